import numpy as np

from bagwise.runs import Run
from bagwise.showing.seeds import other_seeds, weight_spread


def run(seed, pooling="attention", data="musk1", test_bags="a"):
    """A run of which no more is known than this."""
    told = Run.__new__(Run)
    told.manifest = {"test_bags": test_bags}
    vars(told)["parameters"] = {
        "data": {"data": data, "split_seed": seed},
        "parameters": {"pooling": pooling, "random_state": seed},
    }
    return told


def test_only_runs_that_differ_in_the_seed_alone_count():
    runs = [run(0), run(1), run(2, pooling="max"), run(3, data="fox"), run(4, test_bags="b"), run(5)]
    assert other_seeds(runs) == [[1, 5], [0, 5], [], [], [], [0, 1]]


def test_a_copy_is_no_other_seed_and_counts_once():
    assert other_seeds([run(0), run(0), run(1), run(1)]) == [[2], [2], [0], [0]]


def test_the_spread_is_each_weights_deviation_in_double_precision():
    draws = np.random.default_rng(0).dirichlet(np.ones(6), 4).astype(np.float32)
    expected = [np.sqrt(np.mean((column - column.mean()) ** 2)) for column in draws.astype(np.float64).T]
    np.testing.assert_allclose(weight_spread(list(draws)), expected, rtol=1e-12)
