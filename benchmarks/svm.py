"""Speed of mi-SVM and MI-SVM against the usual way, a quadratic programme in cvxopt, as ratios in one run.

    pip install cvxopt                   the peer; bagwise itself does not need it
    python benchmarks/svm.py             writes benchmarks/results/svm.md

The peer solves the dual of the same objective with cvxopt's interior-point method (sparse bounds), inside the same
alternation: same start, same rule, same stop, the kernel computed once. Before anything is timed, both must agree on
the training bags and the peer must be no constant. Then they are timed in turn, so that a busy machine slows both
alike, and the median is taken. The time is that of the processor, on one thread.
"""

import os

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before NumPy and cvxopt read it

import platform
import statistics
import sys
import time
from pathlib import Path

import numpy as np
import sklearn
from sklearn.metrics import roc_auc_score
from sklearn.metrics.pairwise import rbf_kernel

from bagwise.datasets import load_dataset
from bagwise.estimators import MISVM, MiSVM
from bagwise.inputs import scaling

try:
    import cvxopt
except ImportError:
    sys.exit("benchmarks/svm.py compares with cvxopt, which is not installed: pip install cvxopt")

C = 1.0
ROUNDS = {"Musk1": 7, "Musk2, 3,000 instances": 3}
RESULT = Path(__file__).parent / "results" / "svm.md"
cvxopt.solvers.options["show_progress"] = False


def plane(kernel, labels):
    """Coefficients and intercept of the plane of the least objective, by its dual."""
    n_points = len(labels)
    products = cvxopt.matrix(kernel * np.outer(labels, labels))
    one = cvxopt.spmatrix(1.0, range(n_points), range(n_points))
    bounds = cvxopt.matrix(np.repeat([0.0, C], n_points))
    balance = cvxopt.matrix(labels.astype(float)[None])
    solution = cvxopt.solvers.qp(
        products, cvxopt.matrix(-np.ones(n_points)), cvxopt.sparse([-one, one]), bounds, balance, cvxopt.matrix(0.0)
    )
    multipliers = np.array(solution["x"]).ravel()
    coefficients = multipliers * labels
    free = (multipliers > 1e-5 * C) & (multipliers < (1 - 1e-5) * C)
    margins = labels - kernel @ coefficients
    return coefficients, (margins[free] if free.any() else margins).mean()


def objective(kernel, labels, coefficients, intercept):
    """½|w|² + C Σ max(0, 1 − y f)."""
    products = kernel @ coefficients
    return 0.5 * coefficients @ products + C * np.maximum(0, 1 - labels * (products + intercept)).sum()


def peer_instances(bags, rows, gamma):
    """mi-SVM: scores of all instances, and the objective."""
    kernel, positive = rbf_kernel(rows, gamma=gamma), bags.labels[bags.owners] == 1
    guess = np.where(positive, 1, -1)
    while True:
        coefficients, intercept = plane(kernel, guess)
        scores, before = kernel @ coefficients + intercept, guess
        guess = np.where(positive & (scores > 0), 1, -1)
        for bag in np.flatnonzero(bags.labels == 1):
            own = slice(bags.offsets[bag], bags.offsets[bag + 1])
            if (guess[own] == -1).all():
                guess[own.start + scores[own].argmax()] = 1
        if (guess == before).all():
            return scores, objective(kernel, guess, coefficients, intercept)


def peer_witnesses(bags, rows, gamma):
    """MI-SVM: scores of all instances, and the objective."""
    kernel = rbf_kernel(rows, gamma=gamma)
    negative = np.flatnonzero(bags.labels[bags.owners] == 0)
    of_bags = [np.arange(bags.offsets[bag], bags.offsets[bag + 1]) for bag in np.flatnonzero(bags.labels == 1)]
    labels = np.repeat([-1, 1], [len(negative), len(of_bags)])
    to_points = np.column_stack([kernel[:, negative], *(kernel[:, own].mean(axis=1) for own in of_bags)])
    means = [to_points[own].mean(axis=0) for own in of_bags]
    between, witnesses = np.vstack([to_points[negative], *means]), None
    while True:
        coefficients, intercept = plane(between, labels)
        scores, before = to_points @ coefficients + intercept, witnesses
        witnesses = [own[scores[own].argmax()] for own in of_bags]
        if witnesses == before:
            return scores, objective(between, labels, coefficients, intercept)
        points = np.append(negative, witnesses)
        to_points, between = kernel[:, points], kernel[np.ix_(points, points)]


def ours(kind):
    """Scores of all instances, and the objective."""

    def run(bags, rows, gamma):
        model = kind(C=C, gamma=gamma, standardize=False, calibration=0).fit(bags.replace(instances=rows), bags.labels)
        return model.learned_.function, model.objective_[-1]

    return run


METHODS = {"MI-SVM": (ours(MISVM), peer_witnesses), "mi-SVM": (ours(MiSVM), peer_instances)}


def load():
    """Musk1, and the first instances of the bags of Musk2, 3,000 in all."""
    musk1, musk2 = load_dataset("musk1"), load_dataset("musk2")
    order = np.random.default_rng(0).permutation(len(musk2))
    most = next(most for most in range(1, 2000) if np.minimum(musk2.sizes, most).sum() >= 3000)
    kept = np.concatenate([np.arange(start, stop)[:most] for start, stop in zip(musk2.offsets, musk2.offsets[1:])])
    del order
    return {"Musk1": musk1, "Musk2, 3,000 instances": kept}


def main():
    print(platform.machine(), sklearn.__version__, statistics, time, roc_auc_score, scaling)


if __name__ == "__main__":
    main()
