import numpy as np
import pytest
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel
from sklearn.svm import SVC

from bagwise.bags import Bags
from bagwise.estimators.svm.witness_svm import MISVM

PLAIN = {"calibration": 0, "standardize": False, "random_state": 0}
KERNELS = {"linear": linear_kernel, "rbf": lambda rows, others=None: rbf_kernel(rows, others, gamma=0.3)}


def draw(seed, n_bags=40):
    """Bags of noise, of which the positive hold one instance of another kind."""
    draws = np.random.default_rng(seed)
    labels = np.arange(n_bags) % 2
    bags = [draws.normal(size=(draws.integers(2, 8), 4)) for _ in labels]
    for bag, label in zip(bags, labels, strict=True):
        bag[0] += 1.5 * label
    return Bags.from_list(bags, labels=labels)


def unknown_of(bags, positive, **parameters):
    model = MISVM(**parameters)
    model.classes_ = np.array([0, 1])
    return model._unknown(bags, positive)


def textbook(bags, labels, kernel, C):
    """The method as the article prints it, on the values of the kernel; the first witness of a bag is its mean."""
    values = KERNELS[kernel](bags.instances)
    negative = np.eye(bags.n_instances)[labels[bags.owners] == 0]
    of_bags = [np.flatnonzero(bags.owners == bag) for bag in np.flatnonzero(labels == 1)]
    witnesses = np.array([np.isin(np.arange(bags.n_instances), rows) / len(rows) for rows in of_bags])
    truth = np.repeat([-1, 1], [len(negative), len(witnesses)])
    while True:
        points = np.vstack([negative, witnesses])
        machine = SVC(C=C, kernel="precomputed", tol=1e-4).fit(points @ values @ points.T, truth)
        scores = machine.decision_function(values @ points.T)
        chosen = np.eye(bags.n_instances)[[rows[scores[rows].argmax()] for rows in of_bags]]
        if (chosen == witnesses).all():
            return scores, chosen.argmax(axis=1)
        witnesses = chosen


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_it_is_the_method_of_the_article(seed, kernel):
    bags = draw(seed)
    model = MISVM(C=20.0, kernel=kernel, gamma=0.3, **PLAIN).fit(bags, bags.labels)
    scores, witnesses = textbook(bags, bags.labels, kernel, C=20.0)
    assert len(model.objective_) > 1
    np.testing.assert_allclose(model.score_instances(bags), scores, rtol=1e-3, atol=1e-3)
    positive = bags.labels[bags.owners] == 1
    np.testing.assert_array_equal(np.flatnonzero((model.weigh(bags) == 1) & positive), witnesses)


def test_for_the_linear_kernel_the_first_witness_is_the_mean_of_the_rows():
    bags = draw(1)
    with pytest.warns(UserWarning, match="max_iterations"):
        model = MISVM(C=20.0, kernel="linear", max_iterations=1, **PLAIN).fit(bags, bags.labels)
    means = [rows.mean(axis=0) for rows, label in zip(bags, bags.labels, strict=True) if label == 1]
    negative = bags.instances[bags.labels[bags.owners] == 0]
    machine = SVC(C=20.0, kernel="linear", tol=1e-4)
    machine.fit(np.vstack([negative, means]), [0] * len(negative) + [1] * len(means))
    np.testing.assert_allclose(
        model.score_instances(bags), machine.decision_function(bags.instances), rtol=1e-4, atol=1e-4
    )


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_in_the_end_the_objective_is_that_of_the_greatest_score_of_each_bag(seed, kernel):
    bags = draw(seed)
    model = MISVM(C=2.0, kernel=kernel, gamma=0.3, **PLAIN).fit(bags, bags.labels)
    scores = model.score_instances(bags)
    peaks = model.decision_function(bags)[bags.labels == 1]
    errors = np.maximum(0, 1 - peaks).sum() + np.maximum(0, 1 + scores[bags.labels[bags.owners] == 0]).sum()
    function = model.learned_.function
    complexity = 0.5 * function.coefficients @ KERNELS[kernel](function.rows) @ function.coefficients
    assert model.learned_.converged
    assert model.objective_[-1] == pytest.approx(complexity + 2.0 * errors, rel=1e-9)
    assert (np.diff(model.objective_) <= 0).all()


def test_points_are_positive_bags_and_negative_instances():
    bags = Bags.from_list([np.zeros((2, 1)), np.zeros((3, 1)), np.zeros((1, 1))])
    unknown = unknown_of(bags, np.array([True, False, True]))
    points = unknown.points(unknown.best(np.array([1.0, 2.0, 5.0, 5.0, 5.0, 3.0])))
    assert points.labels.tolist() == [1, -1, -1, -1, 1]
    assert points.shares.toarray().argmax(axis=1).tolist() == [1, 2, 3, 4, 5]
    first = unknown.points(unknown.first()).shares.toarray()
    np.testing.assert_array_equal(first[0], [0.5, 0.5, 0, 0, 0, 0])


def test_balanced_witnesses_weigh_as_much_as_all_negative_instances():
    bags = draw(7)
    unknown = unknown_of(bags, bags.labels == 1, C=3.0, class_weight="balanced")
    assert unknown.costs[unknown.positive].sum() == pytest.approx(unknown.costs[~unknown.positive].sum())
