from itertools import product

import numpy as np
import pytest
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel
from sklearn.svm import SVC

from bagwise.bags.bags import Bags
from bagwise.estimators.classical.mi_svm import MISVM, InstanceLabels, MiSVM
from bagwise.targets.classes import ClassTarget

PLAIN = {"calibration": False, "scaling": "none", "random_state": 0}
KERNELS = {"linear": linear_kernel, "rbf": lambda rows, others=None: rbf_kernel(rows, others, gamma=0.3)}
CASES = [
    (0, "linear"),
    (1, "rbf"),
    *(pytest.param(*case, marks=pytest.mark.full) for case in [(0, "rbf"), (1, "linear"), (2, "linear"), (2, "rbf")]),
]


def sample_bags(seed, n_key_instances):
    """Sample bags of noise; positive bags also contain key instances, which are shifted by 1.5."""
    generator = np.random.default_rng(seed)
    labels = np.arange(40) % 2
    bags = [generator.normal(size=(generator.integers(2, 8), 4)) for _ in labels]
    for bag, label in zip(bags, labels, strict=True):
        bag[: label * n_key_instances(generator)] += 1.5
    return Bags.from_list(bags, labels=labels)


def sample_several(seed):
    return sample_bags(seed, lambda generator: generator.integers(1, 4))


def sample_single(seed):
    return sample_bags(seed, lambda generator: 1)


def make_latent(method, bags, positive, **parameters):
    model = method(**parameters)
    model.target_ = ClassTarget.unnamed(2)
    return model._make_latent(bags, positive)


def fit_textbook_instance_labels(bags, labels, **parameters):
    """Run the algorithm of mi-SVM as in the article, with scikit-learn's support vector machine."""
    assignment = np.where(labels[bags.bag_indices] == 1, 1, -1)
    while True:
        machine = SVC(tol=1e-5, **parameters).fit(bags.instances, assignment)
        scores, previous = machine.decision_function(bags.instances), assignment.copy()
        for bag in np.flatnonzero(labels == 1):
            rows = np.flatnonzero(bags.bag_indices == bag)
            assignment[rows] = np.where(scores[rows] > 0, 1, -1)
            if (assignment[rows] == -1).all():
                assignment[rows[scores[rows].argmax()]] = 1
        if (assignment == previous).all():
            return machine, assignment


def fit_textbook_witnesses(bags, labels, kernel, C):
    """Run the algorithm of MI-SVM as in the article, on the kernel matrix; the first witness is the mean of a bag."""
    values = KERNELS[kernel](bags.instances)
    negative = np.eye(bags.n_instances)[labels[bags.bag_indices] == 0]
    rows_by_bag = [np.flatnonzero(bags.bag_indices == bag) for bag in np.flatnonzero(labels == 1)]
    witnesses = np.array([np.isin(np.arange(bags.n_instances), rows) / len(rows) for rows in rows_by_bag])
    signs = np.repeat([-1, 1], [len(negative), len(witnesses)])
    while True:
        points = np.vstack([negative, witnesses])
        machine = SVC(C=C, kernel="precomputed", tol=1e-4).fit(points @ values @ points.T, signs)
        scores = machine.decision_function(values @ points.T)
        chosen = np.eye(bags.n_instances)[[rows[scores[rows].argmax()] for rows in rows_by_bag]]
        if (chosen == witnesses).all():
            return scores, chosen.argmax(axis=1)
        witnesses = chosen


@pytest.mark.parametrize(("seed", "kernel"), CASES)
def test_mi_svm_equals_the_method_of_the_article(seed, kernel):
    bags = sample_several(seed)
    model = MiSVM(C=2.0, kernel=kernel, **PLAIN).fit(bags, bags.labels)
    machine, assignment = fit_textbook_instance_labels(bags, bags.labels, C=2.0, kernel=kernel)
    assert len(model.objective_) > 1
    expected = machine.decision_function(bags.instances)
    np.testing.assert_allclose(model.score_instances(bags), expected, rtol=1e-4, atol=1e-4)
    in_positive_bags = bags.labels[bags.bag_indices] == 1
    assert (assignment[in_positive_bags] == -1).any(), "some labels changed"


def test_instance_labels_start_with_the_labels_of_the_bags():
    latent = InstanceLabels(np.array([0, 2, 3]), np.array([True, True, False]), np.ones(3))
    assert latent.initial_assignment().tolist() == [1, 1, -1]


def test_instance_labels_choose_the_best_of_all_allowed_assignments():
    generator = np.random.default_rng(6)
    offsets, positive = np.array([0, 3, 5, 7]), np.repeat([True, False, True], [3, 2, 2])
    costs = np.where(positive, 1.7, 0.6)
    latent = InstanceLabels(offsets, positive, costs)

    def compute_loss(assignment, scores):
        return (costs * np.maximum(0, 1 - assignment * scores)).sum()

    def is_allowed(assignment):
        return (assignment[3:5] == -1).all() and (assignment[:3] == 1).any() and (assignment[5:] == 1).any()

    every = [np.array(signs) for signs in product([-1, 1], repeat=7) if is_allowed(np.array(signs))]
    for shift in (-3, -1, 0, 1):
        for _ in range(20):
            scores = generator.normal(size=7) + shift
            best = latent.best_assignment(scores)
            assert is_allowed(best)
            minimum = min(compute_loss(assignment, scores) for assignment in every)
            assert compute_loss(best, scores) == pytest.approx(minimum, rel=1e-12)


def test_mi_svm_balances_by_the_class_of_the_bag():
    bags = sample_several(7)
    in_positive_bags = bags.labels[bags.bag_indices] == 1
    costs = make_latent(MiSVM, bags, bags.labels == 1, C=3.0, class_weight="balanced").costs
    assert costs[in_positive_bags].sum() == pytest.approx(costs[~in_positive_bags].sum())
    assert costs.sum() == pytest.approx(3.0 * bags.n_instances)


@pytest.mark.parametrize(("seed", "kernel"), CASES)
def test_MI_svm_equals_the_method_of_the_article(seed, kernel):  # noqa: N802
    bags = sample_single(seed)
    model = MISVM(C=20.0, kernel=kernel, gamma=0.3, **PLAIN).fit(bags, bags.labels)
    scores, witnesses = fit_textbook_witnesses(bags, bags.labels, kernel, C=20.0)
    assert len(model.objective_) > 1
    np.testing.assert_allclose(model.score_instances(bags), scores, rtol=1e-3, atol=1e-3)
    in_positive_bags = bags.labels[bags.bag_indices] == 1
    np.testing.assert_array_equal(np.flatnonzero((model.weigh(bags) == 1) & in_positive_bags), witnesses)


def test_MI_svm_starts_with_the_mean_of_the_rows_for_the_linear_kernel():  # noqa: N802
    bags = sample_single(1)
    with pytest.warns(UserWarning, match="max_iterations"):
        model = MISVM(C=20.0, kernel="linear", max_iterations=1, **PLAIN).fit(bags, bags.labels)
    means = [rows.mean(axis=0) for rows, label in zip(bags, bags.labels, strict=True) if label == 1]
    negative = bags.instances[bags.labels[bags.bag_indices] == 0]
    machine = SVC(C=20.0, kernel="linear", tol=1e-4)
    machine.fit(np.vstack([negative, means]), [0] * len(negative) + [1] * len(means))
    expected = machine.decision_function(bags.instances)
    np.testing.assert_allclose(model.score_instances(bags), expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(("seed", "kernel"), CASES)
def test_MI_svm_ends_with_the_objective_of_the_maximum_score_of_each_bag(seed, kernel):  # noqa: N802
    bags = sample_single(seed)
    model = MISVM(C=2.0, kernel=kernel, gamma=0.3, **PLAIN).fit(bags, bags.labels)
    scores = model.score_instances(bags)
    maxima = model.decision_function(bags)[bags.labels == 1]
    errors = np.maximum(0, 1 - maxima).sum() + np.maximum(0, 1 + scores[bags.labels[bags.bag_indices] == 0]).sum()
    function = model.learned_.function
    complexity = 0.5 * function.coefficients @ KERNELS[kernel](function.rows) @ function.coefficients
    assert model.learned_.converged
    assert model.objective_[-1] == pytest.approx(complexity + 2.0 * errors, rel=1e-9)
    assert (np.diff(model.objective_) <= 0).all()


def test_witnesses_have_one_point_per_positive_bag_and_per_negative_instance():
    bags = Bags.from_list([np.zeros((2, 1)), np.zeros((3, 1)), np.zeros((1, 1))])
    latent = make_latent(MISVM, bags, np.array([True, False, True]))
    points = latent.make_points(latent.best_assignment(np.array([1.0, 2.0, 5.0, 5.0, 5.0, 3.0])))
    assert points.labels.tolist() == [1, -1, -1, -1, 1]
    assert points.shares.toarray().argmax(axis=1).tolist() == [1, 2, 3, 4, 5]
    initial = latent.make_points(latent.initial_assignment()).shares.toarray()
    np.testing.assert_array_equal(initial[0], [0.5, 0.5, 0, 0, 0, 0])


def test_MI_svm_balances_witnesses_against_all_negative_instances():  # noqa: N802
    bags = sample_single(7)
    latent = make_latent(MISVM, bags, bags.labels == 1, C=3.0, class_weight="balanced")
    assert latent.costs[latent.positive].sum() == pytest.approx(latent.costs[~latent.positive].sum())
