import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from bagwise.bags import Bags
from bagwise.errors import InputError
from bagwise.estimators import EMDD
from bagwise.estimators.density.diverse_density import DOUBT, Concept, MostLikelyInstance, NoisyOr, Objective, distances
from bagwise.estimators.density.em_dd import LearnedConcepts, search, starting_rows

PLACE = np.array([1.5, -1.0])  # the planted concept: two features of eight
WIDTH = 8


def planted(n_bags, seed):
    """Bags of five instances from a wide cloud; in every second bag one instance lies at the planted place."""
    draws = np.random.default_rng(seed)
    bags, labels, keys = draws.uniform(-3, 3, size=(n_bags, 5, WIDTH)), np.arange(n_bags) % 2, np.zeros((n_bags, 5))
    inside = np.linalg.norm(bags[:, :, :2] - PLACE, axis=2) < 1  # by chance: moved out, lest labels be wrong
    bags[:, :, :2][inside] -= 3 * PLACE
    chosen = draws.integers(5, size=n_bags)
    for bag in np.flatnonzero(labels):
        bags[bag, chosen[bag], :2] = PLACE + draws.normal(scale=0.1, size=2)
        keys[bag, chosen[bag]] = 1
    return Bags.from_list(list(bags)), labels, keys.ravel()


BAGS, LABELS, KEYS = planted(60, seed=1)
ROWS = np.asarray(BAGS.instances)


@pytest.mark.parametrize("objective", ["most likely instance", "noisy-or"])
def test_it_finds_a_planted_concept_and_the_features_that_matter(objective):
    model = EMDD(objective, starts=5, concepts=1, calibration=0, random_state=0).fit(BAGS, LABELS)
    point = model.learned_.points[0] * model.scaling_.scale + model.scaling_.center
    scales = np.abs(model.learned_.scales[0]) / model.scaling_.scale
    np.testing.assert_allclose(point[:2], PLACE, atol=0.3)
    assert scales[:2].min() > 4 * scales[2:].max()
    fresh, labels, keys = planted(60, seed=2)
    assert (model.predict(fresh) == labels).mean() >= 0.95
    assert roc_auc_score(keys, model.score_instances(fresh)) > 0.98
    assert model.weigh(fresh)[keys == 1].mean() > 0.95


@pytest.mark.parametrize("kind", [MostLikelyInstance, NoisyOr])
def test_the_loss_never_rises_over_the_rounds_of_a_search(kind):
    objective, lengths = kind(ROWS, BAGS.offsets, LABELS == 1), []
    for row in starting_rows(BAGS.offsets, LABELS == 1, 4, np.random.default_rng(0)):
        path = search(objective, Concept(ROWS[row], np.full(WIDTH, 0.2)), rounds=8, tolerance=0.0)
        losses = [found.loss for found in path]
        assert losses == sorted(losses, reverse=True)
        assert losses == [objective.loss(found.concept) for found in path]
        lengths.append(len(path))
    assert max(lengths) > 3


class Walk(Objective):
    """Losses in a fixed order; the concept counts the rounds."""

    def __init__(self, *losses):
        self.losses = losses

    def loss(self, concept):
        return self.losses[int(concept.point[0])]

    def improve(self, concept):
        return Concept(concept.point + 1, concept.scales)


@pytest.mark.parametrize(
    ("losses", "rounds", "tolerance", "path"),
    [
        ((9.0, 5.0, 6.0, 1.0), 9, 0.0, [9.0, 5.0]),  # a rise is undone and ends the search
        ((9.0, 5.0, 5.0, 1.0), 9, 0.0, [9.0, 5.0]),
        ((9.0, 5.0, 4.9, 1.0), 9, 0.1, [9.0, 5.0, 4.9]),  # too small a gain is kept and ends the search
        ((9.0, 5.0, 3.0, 1.0), 2, 0.1, [9.0, 5.0, 3.0]),
    ],
)
def test_when_a_search_ends(losses, rounds, tolerance, path):
    start = Concept(np.zeros(1), np.ones(1))
    assert [found.loss for found in search(Walk(*losses), start, rounds, tolerance)] == path


def test_starts_come_from_as_many_positive_bags_as_there_are():
    offsets, positive = np.array([0, 3, 5, 6, 10]), np.array([True, False, True, True])
    owners = np.repeat(np.arange(4), np.diff(offsets))
    firsts, orders = set(), set()
    for seed in range(20):
        rows = starting_rows(offsets, positive, 99, np.random.default_rng(seed))
        assert sorted(rows) == [0, 1, 2, 5, 6, 7, 8, 9]
        assert sorted(owners[rows[:3]]) == [0, 2, 3]
        assert sorted(owners[rows[3:5]]) == [0, 3]
        assert len(starting_rows(offsets, positive, 2, np.random.default_rng(seed))) == 2
        firsts.add(int(owners[rows[0]]))
        orders.add(tuple(rows))
    assert firsts == {0, 2, 3}
    assert len(orders) > 10


def test_the_first_scales_put_the_instances_at_the_initial_distance():
    model = EMDD(initial_distance=2.5)
    for start in model._starts(BAGS, LABELS == 1, seed=0):
        from_mean = distances(ROWS, Concept(ROWS.mean(axis=0), start.scales)) - DOUBT
        np.testing.assert_allclose(from_mean.mean(), 2.5)


def test_concepts_vote_in_the_order_of_their_loss():
    every = EMDD(starts=6, calibration=0, random_state=0).fit(BAGS, LABELS)
    best = EMDD(starts=6, concepts=1, calibration=0, random_state=0).fit(BAGS, LABELS)
    objective = MostLikelyInstance(every.scaling_.rows(ROWS), BAGS.offsets, LABELS == 1)
    losses = [objective.loss(Concept(*each)) for each in zip(every.learned_.points, every.learned_.scales, strict=True)]
    assert len(losses) == 6
    assert losses == sorted(losses)
    assert losses[0] < losses[-1]
    np.testing.assert_array_equal(best.learned_.points, every.learned_.points[:1])
    np.testing.assert_array_equal(best.learned_.scales, every.learned_.scales[:1])


TWO = LearnedConcepts(points=np.array([[0.0, 0.0], [1.0, 2.0]]), scales=np.array([[1.0, 0.5], [0.7, 1.1]]))


def presence(instances):
    """P of each instance by each concept, (n, 2), number by number."""

    def one(row, point, scales):
        return np.exp(-DOUBT - sum((s * (x - h)) ** 2 for x, h, s in zip(row, point, scales, strict=True)))

    concepts = list(zip(TWO.points, TWO.scales, strict=True))
    return np.array([[one(row, *concept) for concept in concepts] for row in instances])


def test_the_score_is_the_log_odds_of_the_mean_over_concepts_of_the_likeliest_instance():
    bags = Bags.from_list([np.random.default_rng(size).normal(size=(size, 2)) for size in (1, 4, 2)])
    chances = np.array([presence(bag).max(axis=0).mean() for bag in bags])
    np.testing.assert_allclose(TWO.scores(bags)[:, 0], np.log(chances / (1 - chances)), rtol=1e-10)
    alone = presence(bags.instances).mean(axis=1)
    np.testing.assert_allclose(TWO.instance_scores(bags)[:, 0], np.log(alone / (1 - alone)), rtol=1e-10)


def test_shares_are_parts_in_the_probability_of_the_bag():
    bags = Bags.from_list([np.random.default_rng(size).normal(size=(size, 2)) for size in (1, 4, 2, 7)])
    expected = []
    for bag in bags:
        chances = presence(bag)
        parts = np.where(chances == chances.max(axis=0), chances, 0).sum(axis=1)
        expected.append(parts / parts.sum())
    np.testing.assert_allclose(TWO.shares(bags), np.concatenate(expected), rtol=1e-10)


def test_equal_instances_share_evenly():
    bags = Bags.from_list([np.array([[0.1, 0.2], [5.0, 5.0], [0.1, 0.2]])])
    one = LearnedConcepts(TWO.points[:1], TWO.scales[:1])
    np.testing.assert_array_equal(one.shares(bags), [0.5, 0, 0.5])


def test_instances_on_a_concept_and_far_from_all_have_finite_scores_and_shares():
    bags = Bags.from_list([TWO.points[:1], np.full((2, 2), 100.0), np.full((1, 2), 1e4)])
    scores = TWO.scores(bags)[:, 0]
    assert np.isfinite(scores).all()
    assert (np.diff(scores) < 0).all()
    np.testing.assert_allclose(TWO.shares(bags), [1, 0.5, 0.5, 1])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"objective": "noisy"}, "did you mean 'noisy or'"),
        ({"starts": 0}, "starts is 0"),
        ({"concepts": 0}, "concepts is 0"),
        ({"max_iterations": 2.5}, "max_iterations is 2.5"),
        ({"tolerance": 1}, "tolerance is 1"),
        ({"initial_distance": 0}, "initial_distance is 0"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(parameters, message):
    with pytest.raises(InputError, match=message):
        EMDD(**parameters).fit(BAGS, LABELS)
