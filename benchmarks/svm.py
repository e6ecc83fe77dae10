"""mi-SVM and MI-SVM compared with the usual implementation, a quadratic program in cvxopt, as ratios in one run.

    pip install cvxopt                   for comparison; bagwise does not need it
    python benchmarks/svm.py             writes benchmarks/results/svm.md

The peer solves the dual of the same objective with the interior-point method of cvxopt, inside the same alternation:
the same kernel (computed once), initialisation, update rule and stopping criterion. It is timed in two variants: with
its bounds 0 ≤ α ≤ C as dense matrices, as in most tutorials (for Musk1 only, because they are slow), and as sparse
matrices. Before anything is timed, all implementations must separate the training bags equally well. Then they are
timed in turn and the median is reported. Times are processor times of one thread, so that other load on the machine
does not affect them.
"""

import os

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"  # set before NumPy and cvxopt are imported

import platform
import statistics
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np
import sklearn
from sklearn.metrics import roc_auc_score
from sklearn.metrics.pairwise import rbf_kernel

from bagwise.bags import Bags
from bagwise.data.datasets import load_dataset
from bagwise.estimators import MISVM, MiSVM
from bagwise.nn import fit_scaling

try:
    import cvxopt
except ImportError:
    sys.exit("benchmarks/svm.py needs cvxopt, which is not installed. Install it with: pip install cvxopt")

C = 1.0
ROUNDS = {"Musk1": 7, "Musk2, reduced": 3}
RESULT = Path(__file__).parent / "results" / "svm.md"
cvxopt.solvers.options["show_progress"] = False


def sparse_bounds(n_points):
    identity = cvxopt.spmatrix(1.0, range(n_points), range(n_points))
    return cvxopt.sparse([-identity, identity])


def dense_bounds(n_points):
    return cvxopt.matrix(np.vstack([-np.eye(n_points), np.eye(n_points)]))


def separate(kernel, labels, bounds):
    """Return the coefficients and the intercept of the hyperplane that minimises the objective, from the dual."""
    n_points = len(labels)
    multipliers = cvxopt.solvers.qp(
        cvxopt.matrix(kernel * np.outer(labels, labels)),
        cvxopt.matrix(-np.ones(n_points)),
        bounds(n_points),
        cvxopt.matrix(np.repeat([0.0, C], n_points)),
        cvxopt.matrix(labels[None].astype(float)),
        cvxopt.matrix(0.0),
    )["x"]
    multipliers = np.array(multipliers).ravel()
    coefficients = multipliers * labels
    free = (multipliers > 1e-5 * C) & (multipliers < (1 - 1e-5) * C)
    return coefficients, (labels - kernel @ coefficients)[free].mean()


def objective(kernel, labels, coefficients, intercept):
    """Compute ½|w|² + C Σ max(0, 1 − y f)."""
    products = kernel @ coefficients
    return 0.5 * coefficients @ products + C * np.maximum(0, 1 - labels * (products + intercept)).sum()


def peer_of_instances(bags, gamma, bounds):
    """Return the scores of all instances and the objective of mi-SVM."""
    kernel, positive = rbf_kernel(bags.instances, gamma=gamma), bags.labels[bags.bag_indices] == 1
    guess = np.where(positive, 1, -1)
    while True:
        coefficients, intercept = separate(kernel, guess, bounds)
        scores, before = kernel @ coefficients + intercept, guess
        guess = np.where(positive & (scores > 0), 1, -1)
        for bag in np.flatnonzero(bags.labels == 1):
            own = slice(bags.offsets[bag], bags.offsets[bag + 1])
            if (guess[own] == -1).all():
                guess[own.start + scores[own].argmax()] = 1
        if (guess == before).all():
            return scores, objective(kernel, guess, coefficients, intercept)


def peer_of_witnesses(bags, gamma, bounds):
    """Return the scores of all instances and the objective of MI-SVM."""
    kernel = rbf_kernel(bags.instances, gamma=gamma)
    negative = np.flatnonzero(bags.labels[bags.bag_indices] == 0)
    own = [np.arange(bags.offsets[bag], bags.offsets[bag + 1]) for bag in np.flatnonzero(bags.labels == 1)]
    labels = np.repeat([-1, 1], [len(negative), len(own)])
    to_points = np.column_stack([kernel[:, negative], *(kernel[:, rows].mean(axis=1) for rows in own)])
    between = np.vstack([to_points[negative], *(to_points[rows].mean(axis=0) for rows in own)])
    witnesses = None
    while True:
        coefficients, intercept = separate(between, labels, bounds)
        scores, before = to_points @ coefficients + intercept, witnesses
        witnesses = [rows[scores[rows].argmax()] for rows in own]
        if witnesses == before:
            return scores, objective(between, labels, coefficients, intercept)
        points = np.append(negative, witnesses)
        to_points, between = kernel[:, points], kernel[np.ix_(points, points)]


def ours(kind):
    def run(bags, gamma):
        model = kind(C=C, gamma=gamma, scaling="none", calibration=False).fit(bags, bags.labels)
        return model.learned_.function, model.objective_[-1]

    return run


def implementations(method, bags):
    """Return the implementations by name, ours first."""
    kind, peer = {"MI-SVM": (MISVM, peer_of_witnesses), "mi-SVM": (MiSVM, peer_of_instances)}[method]
    forms = {"sparse": sparse_bounds} if bags.n_instances > 1000 else {"dense": dense_bounds, "sparse": sparse_bounds}
    return {"ours": ours(kind)} | {form: partial(peer, bounds=bounds) for form, bounds in forms.items()}


def musk(name, n_instances=None):
    """Return standardised bags; instances are removed from the largest bags until ``n_instances`` are left."""
    bags = load_dataset(name)
    rows = fit_scaling(bags, True).rows(bags.instances)
    ranks = np.arange(bags.n_instances) - bags.offsets[bags.bag_indices]
    kept = np.sort(np.argsort(ranks, kind="stable")[:n_instances])
    offsets = np.append(0, np.bincount(bags.bag_indices[kept]).cumsum())
    return Bags(rows[kept], offsets, labels=bags.labels)


def check(bags, scores):
    """Check that all implementations separate the training bags equally well."""
    aucs = [roc_auc_score(bags.labels, np.maximum.reduceat(own, bags.offsets[:-1])) for own in scores]
    if min(aucs) < 0.8 or max(aucs) - min(aucs) > 0.02:
        sys.exit(f"the implementations do not agree: AUC on the training bags {aucs}")


def seconds(implementation, *arguments):
    started = time.process_time()
    implementation(*arguments)
    return time.process_time() - started


def measure(method, bags, rounds):
    """Return part of a row of the table."""
    gamma, runs = 1 / bags.instance_shape[0], implementations(method, bags)
    (function, reached), *peers = (run(bags, gamma) for run in runs.values())
    check(bags, [function(bags.instances), *(scores for scores, _ in peers)])
    times = [{implementation: seconds(run, bags, gamma) for implementation, run in runs.items()} for _ in range(rounds)]
    medians = {implementation: statistics.median(found[implementation] for found in times) for implementation in runs}
    compared = [
        f"{medians[form]:.2f} | {medians[form] / medians['ours']:.1f}×" if form in medians else "– | –"
        for form in ("dense", "sparse")
    ]
    lowest = min(objective for _, objective in peers)
    return f"{medians['ours']:.3f} | {' | '.join(compared)} | {reached:.5f} | {lowest:.5f} |"


def main():
    lines = [
        "# mi-SVM and MI-SVM compared with a quadratic programme",
        "",
        f"scikit-learn {sklearn.__version__}, cvxopt {cvxopt.__version__}, {platform.machine()}; exact RBF kernel, "
        f"γ = 1/166, C = {C:g}; complete fits without calibration; processor time on one thread, median of interleaved "
        f"rounds ({ROUNDS['Musk1']} for Musk1, {ROUNDS['Musk2, reduced']} for Musk2). "
        "Generated by `python benchmarks/svm.py`.",
        "",
        "| method | bags | instances | ours (s) | cvxopt, dense bounds (s) | ratio | cvxopt, sparse bounds (s) | ratio "
        "| objective, ours | objective, lower of cvxopt's |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for name, bags in (("Musk1", musk("musk1")), ("Musk2, reduced", musk("musk2", 3000))):
        for method in ("MI-SVM", "mi-SVM"):
            lines.append(f"| {method} | {name} | {bags.n_instances:,} | {measure(method, bags, ROUNDS[name])}")
            print(lines[-1], flush=True)
    RESULT.parent.mkdir(exist_ok=True)
    RESULT.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
