"""Mutation test: forty small faults in the source, and whether the quick tests find each of them.

    python benchmarks/mutants.py            writes benchmarks/results/mutants.{md,csv}
    python benchmarks/mutants.py 3 17       runs only these mutants, and writes nothing

Each fault changes one expression in a copy of the repository. The tests that cover the file run there with
``-m "not full"`` and stop at the first failure. If they do not find a fault, the long tests are run: a fault that only
the long tests find shows a gap in the quick tests.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from writing_results import conditions, write

ROOT = Path(__file__).parents[1]
NO_TESTS = 5  # exit code of pytest
COPIED = ("src", "tests", "docs", "experiments", "benchmarks", "examples", "tools")


class Mutant(NamedTuple):
    """One fault: in ``file``, ``before`` becomes ``after``."""

    file: str
    before: str
    after: str
    tests: str  # paths below tests/, separated by spaces


MUTANTS = [
    Mutant(
        "targets/metrics.py",
        "probabilities[:, positive] > threshold",
        "probabilities[:, positive] >= threshold",
        "targets",
    ),
    Mutant("targets/metrics.py", "(counts - 1) / 2", "counts / 2", "targets"),
    Mutant(
        "targets/metrics.py",
        "2 * count.true_positives + count.false_positives",
        "count.true_positives + count.false_positives",
        "targets",
    ),
    Mutant(
        "targets/class_likelihoods.py",
        "2 * targets.to(scores.dtype) - 1",
        "1 - 2 * targets.to(scores.dtype)",
        "targets",
    ),
    Mutant("targets/class_likelihoods.py", "- math.log(len(sets))", "+ math.log(len(sets))", "targets"),
    Mutant(
        "estimators/calibration.py",
        "scores * self.slope + self.offset",
        "scores * self.slope - self.offset",
        "estimators/test_calibration.py",
    ),
    Mutant("estimators/calibration.py", "PRIOR_BAGS = 2", "PRIOR_BAGS = 0", "estimators/test_calibration.py"),
    Mutant("nn/pooling/linear.py", "totals.rows / totals.counts", "totals.rows", "nn/pooling training/streaming"),
    Mutant("nn/pooling/maximum.py", "self.sharpness * values", "values", "nn/pooling"),
    Mutant(
        "nn/pooling/probability.py",
        "log_total.exp() + log_one_minus_exp",
        "log_total + log_one_minus_exp",
        "nn/pooling",
    ),
    Mutant("nn/pooling/attention.py", "math.sqrt(self.K.out_features)", "self.K.out_features", "nn/pooling"),
    Mutant(
        "nn/pooling/attention.py",
        "compute_head_means(totals).mean(dim=1)",
        "compute_head_means(totals)[:, 0]",
        "nn/pooling training/streaming",
    ),
    Mutant(
        "nn/pooling/additive.py",
        "torch.maximum(first.peaks, second.peaks)",
        "first.peaks",
        "nn/pooling training/streaming",
    ),
    Mutant(
        "nn/pooling/additive.py",
        "compute_log_sums(totals) - totals.counts.log()",
        "compute_log_sums(totals)",
        "nn/pooling",
    ),
    Mutant(
        "nn/preprocessing.py",
        "(values - self.center).div_(self.scale)",
        "(values - self.center).mul_(self.scale)",
        "nn/test_preprocessing.py",
    ),
    Mutant("nn/dropout.py", "/ (1 - self.p)", "/ (1 + self.p)", "nn/test_dropout.py"),
    Mutant("training/loop.py", "state.epoch * len(batches) + state.batch", "state.batch", "training/test_loop.py"),
    Mutant(
        "training/loop.py",
        "state.epoch, state.batch = state.epoch + 1, 0",
        "state.epoch = state.epoch + 1",
        "training/test_loop.py",
    ),
    Mutant(
        "training/streaming/gradient.py",
        "self.position.first_row + piece.first_row",
        "piece.first_row * 0 + self.position.first_row",
        "training/streaming",
    ),
    Mutant("training/streaming/gradient.py", "gradient[piece.which]", "gradient[:1]", "training/streaming"),
    Mutant("training/batches.py", "rows + size > max_rows", "rows + size >= max_rows", "training/test_batches.py"),
    Mutant(
        "training/batches.py", "start + np.sort(sampled)", "start + np.sort(sampled) * 0", "training/test_batches.py"
    ),
    Mutant(
        "training/engines/fused/dense.py",
        "values[k, column] = value * scale if positive else zero",
        "values[k, column] = value if positive else zero",
        "training/engines/fused/test_dense.py",
    ),
    Mutant(
        "training/engines/fused/dense.py",
        "total[column] += rows[k, column]",
        "total[column] = rows[k, column]",
        "training/engines/fused/test_dense.py",
    ),
    Mutant(
        "bags/row_views.py",
        "np.repeat(starts - offsets[:-1], np.diff(offsets))",
        "np.repeat(starts, np.diff(offsets))",
        "bags",
    ),
    Mutant(
        "bags/splitting.py",
        "round(abs(pair[1] / pair[0] - share), 9)",
        "round(abs(pair[0] / pair[1] - share), 9)",
        "bags",
    ),
    Mutant(
        "bags/splitting.py",
        "held_out, kept = np.concatenate(folds[:n_chosen]), np.concatenate(folds[n_chosen:])",
        "kept, held_out = np.concatenate(folds[:n_chosen]), np.concatenate(folds[n_chosen:])",
        "bags",
    ),
    Mutant("bags/checks.py", "counts > 1", "counts > 2", "bags"),
    Mutant(
        "evaluation/intervals.py", "(1 - CONFIDENCE_LEVEL) / 2", "1 - CONFIDENCE_LEVEL", "evaluation/test_intervals.py"
    ),
    Mutant(
        "evaluation/intervals.py",
        "np.arange(n_bags) if groups is None else np.unique(groups, return_inverse=True)[1]",
        "np.arange(n_bags)",
        "evaluation/test_intervals.py",
    ),
    Mutant("evaluation/evaluation.py", "sums / counts[:, None]", "sums", "evaluation"),
    Mutant(
        "estimators/classical/base.py",
        "weights / np.add.reduceat(weights, bags.offsets[:-1]).repeat(bags.sizes)",
        "weights",
        "estimators/classical estimators/test_laws.py",
    ),
    Mutant(
        "estimators/classical/base.py",
        "torch.from_numpy(self._compute_scores(X)) * self.slope_",
        "torch.from_numpy(self._compute_scores(X))",
        "estimators/classical estimators/test_laws.py",
    ),
    Mutant(
        "targets/classes.py",
        "number_by_label[label] for label in labels.tolist()",
        "0 for label in labels.tolist()",
        "targets evaluation",
    ),
    Mutant("runs/run_description.py", "if now not in (None, {}) and before != now", "if False", "runs"),
    Mutant(
        "runs/parts.py",
        "{*map(str, training_groups)} & {*map(str, test_groups.tolist())}",
        "{*training_groups} & {*test_groups.tolist()}",
        "runs",
    ),
    Mutant(
        "explain/closed_form.py",
        "form.head(block) - bias",
        "form.head(block)",
        "explain/test_closed_form.py explain/test_laws.py",
    ),
    Mutant(
        "explain/deletion.py",
        "np.array_equal(np.sort(order), np.arange(bag.n_instances))",
        "len(order)",
        "explain/test_deletion.py",
    ),
    Mutant("io/manifest.py", '_hash_stream(stream) != recorded["sha256"]', "False", "io/test_manifest.py"),
    Mutant("io/csv_files.py", 'encoding="utf-8-sig"', 'encoding="utf-8"', "io/test_csv_files.py"),
]


def copy_repository(folder):
    """Copy the folders and files that the tests need."""
    for name in COPIED:
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for path in ROOT.iterdir():
        if path.is_file():
            shutil.copy(path, folder / path.name)


def find_failure(folder, mutant, markers):
    """Run the tests of a mutant until one fails; return its name, or an empty string."""
    tests = [folder / "tests" / path for path in mutant.tests.split()]
    options = ["-q", "-x", "-p", "no:cacheprovider", "--no-header", "--tb=no", "-m", markers]
    command = [sys.executable, "-m", "pytest", *options, *tests]
    # The copy takes precedence over the installed package.
    environment = {**os.environ, "PYTHONPATH": str(folder / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    result = subprocess.run(list(map(str, command)), cwd=folder, env=environment, capture_output=True, text=True)
    if result.returncode == NO_TESTS:
        return ""
    if result.returncode not in (0, 1):
        return f"error {result.returncode}"  # e.g. the tests cannot be collected
    failed = [line.split(" ")[1] for line in result.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return failed[0] if result.returncode else ""


def try_mutant(folder, mutant):
    """Apply a mutant, run its tests, restore the file, and return a row of the table."""
    path = folder / "src" / "bagwise" / mutant.file
    source = path.read_text(encoding="utf-8")
    if source.count(mutant.before) != 1:
        raise SystemExit(f"{mutant.file} has {source.count(mutant.before)} times: {mutant.before}")
    path.write_text(source.replace(mutant.before, mutant.after), encoding="utf-8")
    try:
        quick = find_failure(folder, mutant, "not full")
        long = "" if quick else find_failure(folder, mutant, "full")
    finally:
        path.write_text(source, encoding="utf-8")
    found = "quick tests" if quick else "long tests only" if long else "nobody"
    name = (quick or long).rpartition("::")[2].split("[")[0]
    return {
        "file": mutant.file,
        "before": f"`{mutant.before}`",
        "after": f"`{mutant.after}`",
        "found by": found,
        "test": name,
    }


def main(numbers):
    chosen = [MUTANTS[number] for number in numbers] or MUTANTS
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        copy_repository(Path(folder))
        for mutant in chosen:
            rows.append(try_mutant(Path(folder), mutant))
            print(rows[-1], flush=True)
    if not numbers:
        n_quick = sum(row["found by"] == "quick tests" for row in rows)
        found = f"The quick tests find {n_quick} of {len(rows)} faults."
        text = f"{conditions()}. {found} Generated by `python benchmarks/mutants.py`."
        write("mutants", "Mutation test: faults that the tests find", text, rows)


if __name__ == "__main__":
    main([int(number) for number in sys.argv[1:]])
