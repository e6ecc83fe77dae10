import numpy as np

from bagwise.evaluation import bootstrap

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


def test_what_no_draw_defines_is_none():
    assert bootstrap(np.zeros(5, dtype=int), np.tile([0.9, 0.1], (5, 1)))["auc"] is None
