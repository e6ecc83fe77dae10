import time

import numpy as np

from bagwise import randomness
from bagwise.evaluation import bootstrap, intervals
from bagwise.randomness import Purpose

GENERATOR = np.random.default_rng(0)


def accurate(share, n_bags):
    targets = np.arange(n_bags) % 2
    right = np.arange(n_bags) < share * n_bags
    return targets, np.where((targets == 1) == right, 0.8, 0.2)[:, None] * [[-1, 1]] + [[1, 0]]


def test_the_interval_of_accuracy_is_the_binomial_one():
    """80 of 100 right: the percentile interval is close to 0.8 ± 1.96 · 0.04."""
    targets, probabilities = accurate(0.8, 100)
    low, high = bootstrap(targets, probabilities)["accuracy"]
    assert abs(low - 0.72) < 0.02
    assert abs(high - 0.88) < 0.02


def test_groups_are_drawn_whole_so_their_interval_is_wider():
    targets, probabilities = accurate(0.8, 100)
    groups = np.arange(100) // 10  # right and wrong bags lie together
    low, high = bootstrap(targets, probabilities, groups)["accuracy"]
    alone_low, alone_high = bootstrap(targets, probabilities)["accuracy"]
    assert high - low > 1.5 * (alone_high - alone_low)


def test_the_same_seed_gives_the_same_interval():
    targets, probabilities = accurate(0.7, 40)
    assert bootstrap(targets, probabilities, seed=1) == bootstrap(targets, probabilities, seed=1)


def test_every_draw_is_that_of_plain_lists(monkeypatch):
    """Three groups of different sizes, whose bags do not lie together."""
    monkeypatch.setattr(intervals, "DRAWS", 20)
    seen = []
    monkeypatch.setattr(intervals, "bag_metrics", lambda targets, *_: seen.append(targets.tolist()) or {})
    groups = np.array(["b", "a", "c", "b", "b", "a"])
    bootstrap(np.arange(6), np.ones((6, 2)), groups, seed=4)
    members = {"a": [1, 5], "b": [0, 3, 4], "c": [2]}
    draws = randomness.generator(4, Purpose.BOOTSTRAP)
    for rows in seen:
        assert rows == [bag for group in draws.integers(3, size=3) for bag in members["abc"[group]]]
    assert len(seen) == 20


def test_many_bags_take_time_in_proportion(monkeypatch):
    monkeypatch.setattr(intervals, "DRAWS", 1)
    started = time.process_time()
    bootstrap(*accurate(0.8, 300_000))
    assert time.process_time() - started < 5  # comparing every bag with every other takes a minute


def test_what_no_draw_defines_is_none():
    assert bootstrap(np.zeros(5, dtype=int), np.tile([0.9, 0.1], (5, 1)))["auc"] is None


def test_one_group_of_a_class_gives_no_interval():
    """Most draws lack a class; the few that have all are the bags themselves."""
    targets, groups = np.repeat([0, 1, 2], 3), np.repeat(["a", "b", "c"], 3)
    probabilities = np.random.default_rng(0).dirichlet(np.ones(3), 9)
    found = bootstrap(targets, probabilities, groups)
    assert found["auc"] is None
    assert found["accuracy"] is not None
