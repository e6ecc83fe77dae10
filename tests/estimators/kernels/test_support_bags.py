import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from bagwise.bags import Bags
from bagwise.estimators.kernels import precomputed_svm
from bagwise.estimators.kernels.support_bags import SupportBags, decisive_shares

DRAWS = np.random.default_rng(0)
GAMMA = 0.2
FINE = 1e-11  # of both solvers, so that they meet


@pytest.fixture(autouse=True)
def fine_solver(monkeypatch):
    monkeypatch.setattr(precomputed_svm, "TOLERANCE", FINE)


class Halved(SupportBags):
    """Masses that depend on the bag's size, so that a mass forgotten anywhere is seen."""

    @staticmethod
    def masses(bags, gamma):
        return (1 / bags.sizes**0.5)[bags.owners]


def draw(labels):
    return Bags.from_list([DRAWS.normal(size=(DRAWS.integers(1, 6), 3)) + label for label in labels])


def loop_kernel(left, right):
    return np.array([[rbf_kernel(x, y, gamma=GAMMA).sum() / np.sqrt(len(x) * len(y)) for y in right] for x in left])


TARGETS = np.arange(60) % 3
TRAINING, FRESH = draw(TARGETS), draw(np.arange(25) % 3)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_scores_are_those_of_the_machine_on_the_kernel_between_bags(n_classes):
    targets = TARGETS % n_classes
    learned = Halved.learn(TRAINING, targets, GAMMA, penalty=2.0)
    kernel, cross = loop_kernel(TRAINING, TRAINING), loop_kernel(FRESH, TRAINING)
    positives = [1] if n_classes == 2 else [0, 1, 2]
    for column, positive in enumerate(positives):
        machine = SVC(kernel="precomputed", C=2.0, tol=FINE).fit(kernel, targets == positive)
        expected = machine.decision_function(cross)
        np.testing.assert_allclose(learned.scores(FRESH)[:, column], expected, rtol=0, atol=1e-8)


def test_only_support_bags_are_kept():
    learned = Halved.learn(TRAINING, TARGETS % 2, GAMMA, penalty=2.0)
    machine = SVC(kernel="precomputed", C=2.0, tol=FINE).fit(loop_kernel(TRAINING, TRAINING), TARGETS % 2)
    assert len(machine.support_) < len(TRAINING)
    np.testing.assert_array_equal(learned.rows, TRAINING[np.sort(machine.support_)].instances)


def test_parts_sum_to_the_score_without_its_intercept():
    learned = Halved.learn(TRAINING, TARGETS, GAMMA, penalty=2.0)
    sums = np.add.reduceat(learned.parts(FRESH), FRESH.offsets[:-1])
    np.testing.assert_allclose(sums + learned.intercepts, learned.scores(FRESH), rtol=0, atol=1e-12)


def test_an_instance_taken_alone_has_the_part_it_has_in_the_bag_but_for_its_mass():
    learned = Halved.learn(TRAINING, TARGETS % 2, GAMMA, penalty=2.0)
    alone = Bags(FRESH.instances, np.arange(FRESH.n_instances + 1))
    expected = (learned.scores(alone) - learned.intercepts) * Halved.masses(FRESH, GAMMA)[:, None]
    np.testing.assert_allclose(learned.parts(FRESH), expected, rtol=0, atol=1e-12)


BAGS = Bags.from_list([np.zeros((size, 1)) for size in (2, 3, 2)])


def test_shares_are_the_parts_that_speak_for_the_decision():
    parts = np.array([[3.0], [1.0], [-4.0], [2.0], [-1.0], [5.0], [-1.0]])
    scores = np.array([[2.0], [-1.0], [-3.0]])  # the last goes against its parts: the intercept decided
    np.testing.assert_allclose(decisive_shares(parts, scores, BAGS), [0.75, 0.25, 0.8, 0, 0.2, 0, 1])


def test_shares_of_many_classes_are_those_of_the_winning_one():
    parts = np.array([[1.0, 9], [3, 9], [7, 2], [7, -1], [7, 6], [0, 1], [0, 0]])
    scores = np.array([[2.0, 1], [0, 1], [0, 1]])
    np.testing.assert_allclose(decisive_shares(parts, scores, BAGS), [0.25, 0.75, 0.25, 0, 0.75, 1, 0])


def test_where_nothing_speaks_for_the_decision_all_count_alike():
    parts, scores = np.full((7, 1), -1.0), np.full((3, 1), 2.0)
    np.testing.assert_allclose(decisive_shares(parts, scores, BAGS), [1 / 2] * 2 + [1 / 3] * 3 + [1 / 2] * 2)


def test_the_decision_that_shares_speak_for_is_that_of_the_score_with_its_intercept():
    learned = Halved(np.array([[0.0], [9.0]]), np.array([[2.0], [-1.0]]), np.array([-10.0]), gamma=1.0)
    bag = Bags.from_list([[[0.0], [9.0]]])
    assert learned.scores(bag)[0, 0] < 0 < learned.parts(bag).sum()
    np.testing.assert_allclose(learned.shares(bag), [0, 1])
