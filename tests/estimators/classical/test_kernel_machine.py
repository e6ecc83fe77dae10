import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from bagwise.bags.bags import Bags
from bagwise.errors import InputError
from bagwise.estimators.classical import kernel_machine
from bagwise.estimators.classical.kernel_machine import (
    TOLERANCE,
    SupportBags,
    compute_decisive_weights,
    fit_one_against_rest,
    resolve_gamma,
)
from bagwise.estimators.classical.mi_graph import MiGraph
from bagwise.estimators.classical.mi_kernel import MIKernel
from bagwise.estimators.classical.minimax_kernel import MinimaxKernel

GENERATOR = np.random.default_rng(0)
TARGETS = np.arange(60) % 3
ROWS = GENERATOR.normal(size=(60, 3)) + TARGETS[:, None]
NEW_ROWS = GENERATOR.normal(size=(20, 3))
KERNEL, CROSS_KERNEL = rbf_kernel(ROWS), rbf_kernel(NEW_ROWS, ROWS)
GAMMA = 0.2
FINE = 1e-11  # tolerance of both solvers, so that their results can be compared


def sample_bags(labels):
    return Bags.from_list([GENERATOR.normal(size=(GENERATOR.integers(1, 6), 3)) + label for label in labels])


TRAINING, NEW_BAGS = sample_bags(TARGETS), sample_bags(np.arange(25) % 3)
THREE_BAGS = Bags.from_list([np.zeros((size, 1)) for size in (2, 3, 2)])


class SizeWeighted(SupportBags):
    """A machine whose masses depend on the bag size, so that a missing mass changes the result."""

    @staticmethod
    def masses(bags, gamma):
        return (1 / bags.sizes**0.5)[bags.bag_indices]


def compute_size_weighted_kernel(left, right):
    return np.array([[rbf_kernel(x, y, gamma=GAMMA).sum() / np.sqrt(len(x) * len(y)) for y in right] for x in left])


@pytest.fixture
def fine_solver(monkeypatch):
    monkeypatch.setattr(kernel_machine, "TOLERANCE", FINE)


def count_scores(n_classes):
    return 1 if n_classes == 2 else n_classes


def test_resolve_gamma_computes_scale_like_scikit_learn():
    rows = np.random.default_rng(0).normal(3, 2, size=(20, 4))
    machine = SVC(gamma="scale").fit(rows, np.arange(20) % 2)
    assert resolve_gamma("scale", rows) == pytest.approx(machine._gamma, rel=1e-12)


def test_resolve_gamma_ignores_constant_features_of_standardised_rows():
    rows = np.zeros((4, 10))
    rows[:, :2] = [[1, 1], [-1, 1], [1, -1], [-1, -1]]
    assert resolve_gamma("scale", rows) == pytest.approx(1 / 2)
    assert resolve_gamma("scale", np.zeros((4, 10))) == 1


@pytest.mark.parametrize("gamma", [0, -1, "auto", None, True, float("nan")], ids=str)
def test_resolve_gamma_rejects_other_values_by_name(gamma):
    with pytest.raises(InputError, match="gamma is"):
        resolve_gamma(gamma, np.eye(2))


def test_fit_one_against_rest_fits_one_machine_for_two_classes():
    targets = TARGETS % 2
    duals = fit_one_against_rest(KERNEL, targets, n_scores=1, penalty=2.0)
    machine = SVC(kernel="precomputed", C=2.0, tol=TOLERANCE).fit(KERNEL, targets)
    scores = CROSS_KERNEL @ duals.coefficients + duals.intercepts
    np.testing.assert_allclose(scores[:, 0], machine.decision_function(CROSS_KERNEL), rtol=0, atol=1e-10)
    np.testing.assert_array_equal(duals.support, np.sort(machine.support_))


def test_fit_one_against_rest_fits_each_of_more_classes_against_the_rest():
    duals = fit_one_against_rest(KERNEL, TARGETS, n_scores=3, penalty=2.0)
    scores = CROSS_KERNEL @ duals.coefficients + duals.intercepts
    for number in range(3):
        machine = SVC(kernel="precomputed", C=2.0, tol=TOLERANCE).fit(KERNEL, number == TARGETS)
        np.testing.assert_allclose(scores[:, number], machine.decision_function(CROSS_KERNEL), rtol=0, atol=1e-10)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_duals_support_is_where_coefficients_are_not_zero(n_classes):
    duals = fit_one_against_rest(KERNEL, TARGETS % n_classes, count_scores(n_classes), penalty=2.0)
    others = np.setdiff1d(np.arange(60), duals.support)
    assert len(others) > 0
    assert not duals.coefficients[others].any()
    assert duals.coefficients[duals.support].any(axis=1).all()


def test_fit_one_against_rest_is_insensitive_to_rounding_errors_of_the_kernel():
    noise = 1 + 1e-14 * GENERATOR.normal(size=KERNEL.shape)
    exact, rounded = (
        fit_one_against_rest(kernel, TARGETS, n_scores=3, penalty=100.0) for kernel in (KERNEL, KERNEL * noise)
    )
    exact_scores, rounded_scores = (CROSS_KERNEL @ duals.coefficients + duals.intercepts for duals in (exact, rounded))
    np.testing.assert_allclose(exact_scores, rounded_scores, rtol=0, atol=1e-4)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_support_bags_have_the_scores_of_the_machine_on_the_kernel_between_bags(fine_solver, n_classes):
    targets = TARGETS % n_classes
    learned = SizeWeighted.learn(TRAINING, targets, count_scores(n_classes), GAMMA, penalty=2.0)
    kernel = compute_size_weighted_kernel(TRAINING, TRAINING)
    cross_kernel = compute_size_weighted_kernel(NEW_BAGS, TRAINING)
    positive_classes = [1] if n_classes == 2 else [0, 1, 2]
    for column, positive in enumerate(positive_classes):
        machine = SVC(kernel="precomputed", C=2.0, tol=FINE).fit(kernel, targets == positive)
        expected = machine.decision_function(cross_kernel)
        np.testing.assert_allclose(learned.scores(NEW_BAGS)[:, column], expected, rtol=0, atol=1e-8)


def test_support_bags_keep_only_support_bags(fine_solver):
    learned = SizeWeighted.learn(TRAINING, TARGETS % 2, 1, GAMMA, penalty=2.0)
    kernel = compute_size_weighted_kernel(TRAINING, TRAINING)
    machine = SVC(kernel="precomputed", C=2.0, tol=FINE).fit(kernel, TARGETS % 2)
    assert len(machine.support_) < len(TRAINING)
    np.testing.assert_array_equal(learned.rows, TRAINING[np.sort(machine.support_)].instances)


def test_contributions_sum_to_the_score_without_its_intercept():
    learned = SizeWeighted.learn(TRAINING, TARGETS, 3, GAMMA, penalty=2.0)
    sums = np.add.reduceat(learned.contributions(NEW_BAGS), NEW_BAGS.offsets[:-1])
    np.testing.assert_allclose(sums + learned.intercepts, learned.scores(NEW_BAGS), rtol=0, atol=1e-12)


def test_contributions_are_the_scores_of_single_instances_times_their_masses():
    learned = SizeWeighted.learn(TRAINING, TARGETS % 2, 1, GAMMA, penalty=2.0)
    masses = SizeWeighted.masses(NEW_BAGS, GAMMA)[:, None]
    expected = (learned.instance_scores(NEW_BAGS) - learned.intercepts) * masses
    np.testing.assert_allclose(learned.contributions(NEW_BAGS), expected, rtol=0, atol=1e-12)


def test_compute_decisive_shares_normalises_the_contributions_that_support_the_decision():
    contributions = np.array([[3.0], [1.0], [-4.0], [2.0], [-1.0], [5.0], [-1.0]])
    scores = np.array([[2.0], [-1.0], [-3.0]])  # the last has another sign than the sum of its contributions
    shares = compute_decisive_weights(contributions, scores, THREE_BAGS)
    np.testing.assert_allclose(shares, [0.75, 0.25, 0.8, 0, 0.2, 0, 1])


def test_compute_decisive_shares_uses_the_score_of_the_predicted_class():
    contributions = np.array([[1.0, 9], [3, 9], [7, 2], [7, -1], [7, 6], [0, 1], [0, 0]])
    scores = np.array([[2.0, 1], [0, 1], [0, 1]])
    shares = compute_decisive_weights(contributions, scores, THREE_BAGS)
    np.testing.assert_allclose(shares, [0.25, 0.75, 0.25, 0, 0.75, 1, 0])


def test_compute_decisive_shares_is_uniform_if_nothing_supports_the_decision():
    shares = compute_decisive_weights(np.full((7, 1), -1.0), np.full((3, 1), 2.0), THREE_BAGS)
    np.testing.assert_allclose(shares, [1 / 2] * 2 + [1 / 3] * 3 + [1 / 2] * 2)


def test_shares_support_the_decision_of_the_score_including_its_intercept():
    learned = SizeWeighted(np.array([[0.0], [9.0]]), np.array([[2.0], [-1.0]]), np.array([-10.0]), gamma=1.0)
    bag = Bags.from_list([[[0.0], [9.0]]])
    assert learned.scores(bag)[0, 0] < 0 < learned.contributions(bag).sum()
    np.testing.assert_allclose(learned.shares(bag), [0, 1])


@pytest.mark.parametrize("kind", [MIKernel, MinimaxKernel, MiGraph])
def test_score_instances_scores_each_instance_as_a_bag_of_its_own(kind):
    labels = np.arange(12) % 3
    bags = sample_bags(labels)
    model = kind(calibration=False).fit(bags, labels)
    scores = model.score_instances(bags)
    assert scores.shape == (bags.n_instances, 3)
    for row, score in zip(bags.instances, scores, strict=True):
        np.testing.assert_allclose(score, model.decision_function([row[None]])[0], rtol=0, atol=1e-10)
