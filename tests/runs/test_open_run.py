import shutil

import numpy as np
import pytest

from bagwise.bags.folder import save_bags
from bagwise.data.datasets.registry import load_dataset
from bagwise.errors import InputError
from bagwise.runs.execution import execute_run
from bagwise.runs.open_run import OpenRun, compute_weight_spread, find_other_seeds
from bagwise.runs.run import Run


def make_unread_run(seed, pooling="attention", data="musk1", test_bags="a"):
    """A run without files, of which only these parameters are known."""
    run = Run.__new__(Run)
    run.manifest = {"test_bags": test_bags}
    vars(run)["parameters"] = {
        "data": {"data": data, "split_seed": seed},
        "parameters": {"pooling": pooling, "random_state": seed},
    }
    return run


def test_open_run_bag_and_rows_follow_the_order_of_predictions(image_runs):
    run = Run(image_runs / "attention")
    open_run, bags = OpenRun(run), run.test_bags()
    for bag in (0, len(bags) - 1):
        assert open_run.bag(bag).name(0) == run.predictions[bag]["bag"]
        np.testing.assert_array_equal(open_run.bag(bag).instances, bags[bag])
        assert open_run.rows(bag) == slice(bags.offsets[bag], bags.offsets[bag + 1])


def test_open_run_opens_data_and_model_once(image_runs):
    open_run = OpenRun(Run(image_runs / "attention"))
    assert open_run.opened.bags is open_run.opened.bags
    assert open_run.model is open_run.model


def test_open_run_gives_the_reason_if_the_data_are_missing(tmp_path):
    save_bags(load_dataset("needles", n_bags=20), tmp_path / "bags")
    data = {"data": str(tmp_path / "bags"), "options": {}, "test": None, "split_seed": 1}
    run = execute_run(tmp_path / "run", {"data": data, "parameters": {"epochs": 1, "random_state": 1}})
    shutil.rmtree(tmp_path / "bags")
    open_run = OpenRun(run)
    assert open_run.opened.bags is None
    assert str(tmp_path / "bags") in open_run.opened.missing
    with pytest.raises(InputError, match=str(tmp_path / "bags")):
        open_run.bag(0)


def test_open_run_number_finds_bags_by_name(digits_run):
    open_run = OpenRun(digits_run)
    names = [row["bag"] for row in digits_run.predictions]
    assert [open_run.number(name) for name in names[:3]] == [0, 1, 2]
    with pytest.raises(InputError, match=f"no test bag '{names[0]}x'; did you mean"):
        open_run.number(f"{names[0]}x")


def test_find_other_seeds_finds_runs_that_differ_in_the_seed_only():
    runs = [
        make_unread_run(0),
        make_unread_run(1),
        make_unread_run(2, pooling="max"),
        make_unread_run(3, data="fox"),
        make_unread_run(4, test_bags="b"),
        make_unread_run(5),
    ]
    assert find_other_seeds(runs) == [[1, 5], [0, 5], [], [], [], [0, 1]]


def test_find_other_seeds_lists_copies_once():
    assert find_other_seeds([make_unread_run(seed) for seed in (0, 0, 1, 1)]) == [[2], [2], [0], [0]]


def test_compute_weight_spread_is_the_standard_deviation_in_double_precision():
    weights = np.random.default_rng(0).dirichlet(np.ones(6), 4).astype(np.float32)
    expected = [np.sqrt(np.mean((column - column.mean()) ** 2)) for column in weights.astype(np.float64).T]
    np.testing.assert_allclose(compute_weight_spread(list(weights)), expected, rtol=1e-12)
