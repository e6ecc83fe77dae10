import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from bagwise.bags.bags import Bags
from bagwise.errors import InputError
from bagwise.estimators.classical.diverse_density import (
    MIN_DISTANCE,
    Concept,
    MostLikelyObjective,
    NoisyOrObjective,
    Objective,
    compute_distances,
)
from bagwise.estimators.classical.em_dd import EMDD, LearnedConcepts, choose_starting_rows, search_concept

PLANTED = np.array([1.5, -1.0])  # the planted concept, in two of eight features
WIDTH = 8


def sample_bags(n_bags, seed):
    """Sample bags of five instances; in every second bag, one instance is near the planted concept."""
    generator = np.random.default_rng(seed)
    bags, labels, keys = generator.uniform(-3, 3, size=(n_bags, 5, WIDTH)), np.arange(n_bags) % 2, np.zeros((n_bags, 5))
    inside = np.linalg.norm(bags[:, :, :2] - PLANTED, axis=2) < 1  # by chance; moved away below
    bags[:, :, :2][inside] -= 3 * PLANTED
    chosen = generator.integers(5, size=n_bags)
    for bag in np.flatnonzero(labels):
        bags[bag, chosen[bag], :2] = PLANTED + generator.normal(scale=0.1, size=2)
        keys[bag, chosen[bag]] = 1
    return Bags.from_list(list(bags)), labels, keys.ravel()


BAGS, LABELS, KEYS = sample_bags(60, seed=1)
ROWS = np.asarray(BAGS.instances)


@pytest.mark.parametrize("objective", ["most likely instance", "noisy-or"])
def test_fit_finds_a_planted_concept_and_its_features(objective):
    model = EMDD(objective, starts=5, concepts=1, calibration=False, random_state=0).fit(BAGS, LABELS)
    point = model.learned_.points[0] * model.scaling_.scale + model.scaling_.center
    scales = np.abs(model.learned_.scales[0]) / model.scaling_.scale
    np.testing.assert_allclose(point[:2], PLANTED, atol=0.3)
    assert scales[:2].min() > 4 * scales[2:].max()
    new_bags, labels, keys = sample_bags(60, seed=2)
    assert (model.predict(new_bags) == labels).mean() >= 0.95
    assert roc_auc_score(keys, model.score_instances(new_bags)) > 0.98
    assert model.weigh(new_bags)[keys == 1].mean() > 0.95


@pytest.mark.parametrize("kind", [MostLikelyObjective, NoisyOrObjective])
def test_search_concept_never_increases_the_loss(kind):
    objective, lengths = kind(ROWS, BAGS.offsets, LABELS == 1), []
    for row in choose_starting_rows(BAGS.offsets, LABELS == 1, 4, np.random.default_rng(0)):
        path = search_concept(objective, Concept(ROWS[row], np.full(WIDTH, 0.2)), max_iterations=8, tolerance=0.0)
        losses = [found.loss for found in path]
        assert losses == sorted(losses, reverse=True)
        assert losses == [objective.loss(found.concept) for found in path]
        lengths.append(len(path))
    assert max(lengths) > 3


class FixedLosses(Objective):
    """An objective with a fixed sequence of losses; the concept counts the iterations."""

    def __init__(self, *losses):
        self.losses = losses

    def loss(self, concept):
        return self.losses[int(concept.point[0])]

    def improve(self, concept):
        return Concept(concept.point + 1, concept.scales)


@pytest.mark.parametrize(
    ("losses", "max_iterations", "tolerance", "path"),
    [
        ((9.0, 5.0, 6.0, 1.0), 9, 0.0, [9.0, 5.0]),  # an increase is undone and ends the search
        ((9.0, 5.0, 5.0, 1.0), 9, 0.0, [9.0, 5.0]),
        ((9.0, 5.0, 4.9, 1.0), 9, 0.1, [9.0, 5.0, 4.9]),  # a decrease that is too small is kept and ends the search
        ((9.0, 5.0, 3.0, 1.0), 2, 0.1, [9.0, 5.0, 3.0]),
    ],
)
def test_search_concept_ends(losses, max_iterations, tolerance, path):
    start = Concept(np.zeros(1), np.ones(1))
    assert [found.loss for found in search_concept(FixedLosses(*losses), start, max_iterations, tolerance)] == path


def test_choose_starting_rows_alternates_between_the_positive_bags():
    offsets, positive = np.array([0, 3, 5, 6, 10]), np.array([True, False, True, True])
    owners = np.repeat(np.arange(4), np.diff(offsets))
    firsts, orders = set(), set()
    for seed in range(20):
        rows = choose_starting_rows(offsets, positive, 99, np.random.default_rng(seed))
        assert sorted(rows) == [0, 1, 2, 5, 6, 7, 8, 9]
        assert sorted(owners[rows[:3]]) == [0, 2, 3]
        assert sorted(owners[rows[3:5]]) == [0, 3]
        assert len(choose_starting_rows(offsets, positive, 2, np.random.default_rng(seed))) == 2
        firsts.add(int(owners[rows[0]]))
        orders.add(tuple(rows))
    assert firsts == {0, 2, 3}
    assert len(orders) > 10


def test_make_starts_sets_scales_by_the_initial_distance():
    model = EMDD(initial_distance=2.5)
    for start in model._make_starts(BAGS, LABELS == 1, seed=0):
        from_mean = compute_distances(ROWS, Concept(ROWS.mean(axis=0), start.scales)) - MIN_DISTANCE
        np.testing.assert_allclose(from_mean.mean(), 2.5)


def test_fit_keeps_the_concepts_of_minimum_loss():
    every = EMDD(starts=6, calibration=False, random_state=0).fit(BAGS, LABELS)
    best = EMDD(starts=6, concepts=1, calibration=False, random_state=0).fit(BAGS, LABELS)
    objective = MostLikelyObjective(every.scaling_.rows(ROWS), BAGS.offsets, LABELS == 1)
    losses = [objective.loss(Concept(*each)) for each in zip(every.learned_.points, every.learned_.scales, strict=True)]
    assert len(losses) == 6
    assert losses == sorted(losses)
    assert losses[0] < losses[-1]
    np.testing.assert_array_equal(best.learned_.points, every.learned_.points[:1])
    np.testing.assert_array_equal(best.learned_.scales, every.learned_.scales[:1])


TWO = LearnedConcepts(points=np.array([[0.0, 0.0], [1.0, 2.0]]), scales=np.array([[1.0, 0.5], [0.7, 1.1]]))


def compute_presence(instances):
    """Compute P of each instance and concept, of shape (n, 2), with loops."""

    def compute_one(row, point, scales):
        return np.exp(-MIN_DISTANCE - sum((s * (x - h)) ** 2 for x, h, s in zip(row, point, scales, strict=True)))

    concepts = list(zip(TWO.points, TWO.scales, strict=True))
    return np.array([[compute_one(row, *concept) for concept in concepts] for row in instances])


def test_scores_are_log_odds_of_the_mean_over_concepts_of_the_most_likely_instance():
    bags = Bags.from_list([np.random.default_rng(size).normal(size=(size, 2)) for size in (1, 4, 2)])
    probabilities = np.array([compute_presence(bag).max(axis=0).mean() for bag in bags])
    np.testing.assert_allclose(TWO.scores(bags)[:, 0], np.log(probabilities / (1 - probabilities)), rtol=1e-10)
    singles = compute_presence(bags.instances).mean(axis=1)
    np.testing.assert_allclose(TWO.instance_scores(bags)[:, 0], np.log(singles / (1 - singles)), rtol=1e-10)


def test_shares_are_the_parts_of_the_probability_of_the_bag():
    bags = Bags.from_list([np.random.default_rng(size).normal(size=(size, 2)) for size in (1, 4, 2, 7)])
    expected = []
    for bag in bags:
        probabilities = compute_presence(bag)
        parts = np.where(probabilities == probabilities.max(axis=0), probabilities, 0).sum(axis=1)
        expected.append(parts / parts.sum())
    np.testing.assert_allclose(TWO.shares(bags), np.concatenate(expected), rtol=1e-10)


def test_shares_of_equal_instances_are_equal():
    bags = Bags.from_list([np.array([[0.1, 0.2], [5.0, 5.0], [0.1, 0.2]])])
    one = LearnedConcepts(TWO.points[:1], TWO.scales[:1])
    np.testing.assert_array_equal(one.shares(bags), [0.5, 0, 0.5])


def test_scores_and_shares_are_finite_at_a_concept_and_far_from_all():
    bags = Bags.from_list([TWO.points[:1], np.full((2, 2), 100.0), np.full((1, 2), 1e4)])
    scores = TWO.scores(bags)[:, 0]
    assert np.isfinite(scores).all()
    assert (np.diff(scores) < 0).all()
    np.testing.assert_allclose(TWO.shares(bags), [1, 0.5, 0.5, 1])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"objective": "noisy"}, "objective 'noisy' is unknown; did you mean 'noisy or'"),
        ({"starts": 0}, "starts is 0"),
        ({"concepts": 0}, "concepts is 0"),
        ({"max_iterations": 2.5}, "max_iterations is 2.5"),
        ({"tolerance": 1}, "tolerance is 1"),
        ({"initial_distance": 0}, "initial_distance is 0"),
    ],
)
def test_fit_rejects_invalid_parameters_by_name(parameters, message):
    with pytest.raises(InputError, match=message):
        EMDD(**parameters).fit(BAGS, LABELS)
