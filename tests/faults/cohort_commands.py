"""Commands on a memory-mapped folder of bags, in a process whose private memory is limited by the operating system.

As a script, the arguments are a folder for the warm-up, the folder of the cohort, a folder for the output, the bound in
bytes, and the steps. All steps run on the small folder first; then the memory is limited, and they run on the cohort.
"""

import contextlib
import csv
import io
import os
import subprocess
import sys
from pathlib import Path

from faults.memory_limit import ONE_ARENA, OUT_OF_MEMORY, limit_growth

ONE_EPOCH = ("--epochs", "1", "--seed", "0")


def complete_within(bound, small, cohort, out, *steps):
    """Return whether all steps complete on the cohort with ``bound`` bytes of additional memory."""
    arguments = [sys.executable, __file__, small, cohort, out, bound, *steps]
    tests = str(Path(__file__).parents[1])
    environment = {**os.environ, **ONE_ARENA, "PYTHONPATH": tests}
    result = subprocess.run(list(map(str, arguments)), capture_output=True, text=True, check=False, env=environment)
    assert result.returncode in (0, OUT_OF_MEMORY), result.stderr
    return result.returncode == 0


def run_command(*arguments):
    """Run a command in this process; raise MemoryError if it reports that memory ran out."""
    from bagwise.cli.entry_point import main

    sys.argv = ["bagwise", *map(str, arguments)]
    message = io.StringIO()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(message):
        try:
            main()
        except SystemExit as end:
            if end.code and "not enough memory" in message.getvalue():
                raise MemoryError from None
            if end.code:
                raise RuntimeError(message.getvalue()) from None


def train(data, out):
    run_command("train", data, out / "run", *ONE_EPOCH, "--validation", "2", "--quiet")


def train_with_validation(data, out):
    run_command("train", data, out / "validated", *ONE_EPOCH, "--validation", "0.2", "--no-baselines", "--quiet")


def evaluate(data, out):
    run_command("evaluate", out / "run", "--json")
    run_command("evaluate", out / "run", data, "--json")


def explain(data, out):
    with (out / "run" / "predictions.csv").open(newline="", encoding="utf-8") as stream:
        name = next(csv.DictReader(stream))["bag"]
    run_command("explain", out / "run", "--bag", name, "--out", out / "explanation", "--quiet")


def compare(data, out):
    methods = ("--methods", "gated attention,extra trees", "--hold-out", "0.2")
    run_command(
        "compare",
        data,
        *methods,
        *ONE_EPOCH,
        "--validation",
        "none",
        "--most-instances",
        "50",
        "--out",
        out / "comparison",
        "--quiet",
    )


def copy_all(data, out):
    """Copy all instances, to check that the limit is effective."""
    from bagwise.bags.folder import load_bags

    assert load_bags(data)[::-1].instances.size


STEPS = {step.__name__: step for step in (train, train_with_validation, evaluate, explain, compare, copy_all)}

if __name__ == "__main__":
    small, cohort, out, bound, *names = sys.argv[1:]
    for name in names:
        STEPS[name](Path(small), Path(out) / "small")
    limit_growth(int(bound))
    try:
        for name in names:
            STEPS[name](Path(cohort), Path(out) / "cohort")
    except (MemoryError, RuntimeError) as error:
        if isinstance(error, RuntimeError) and "memory" not in str(error):
            raise
        sys.exit(OUT_OF_MEMORY)
