import shutil

import numpy as np
import pytest

from bagwise.datasets import load_dataset
from bagwise.errors import InputError
from bagwise.runs import Run, execute
from bagwise.showing.shown_run import ShownRun
from bagwise.storage import save_bags


def test_a_bag_is_the_one_that_the_run_judged(image_runs):
    run = Run(image_runs / "attention")
    shown, bags = ShownRun(run), run.test_bags()
    for bag in (0, len(bags) - 1):
        assert shown.bag(bag).name(0) == run.predictions[bag]["bag"]
        np.testing.assert_array_equal(shown.bag(bag).instances, bags[bag])
        assert shown.rows(bag) == slice(bags.offsets[bag], bags.offsets[bag + 1])


def test_data_and_model_are_opened_once(image_runs):
    shown = ShownRun(Run(image_runs / "attention"))
    assert shown.opened.bags is shown.opened.bags
    assert shown.model is shown.model


def test_a_run_whose_data_are_gone_says_why(tmp_path):
    save_bags(load_dataset("needles", n_bags=20), tmp_path / "bags")
    data = {"data": str(tmp_path / "bags"), "options": {}, "test": None, "split_seed": 1}
    run = execute(tmp_path / "run", {"data": data, "parameters": {"epochs": 1, "random_state": 1}})
    shutil.rmtree(tmp_path / "bags")
    shown = ShownRun(run)
    assert shown.opened.bags is None
    assert str(tmp_path / "bags") in shown.opened.missing
    with pytest.raises(InputError, match="is neither a data set nor a folder"):
        shown.bag(0)


def test_a_bag_is_found_by_its_name_and_a_typo_gets_the_nearest(digits_run):
    shown = ShownRun(digits_run)
    names = [row["bag"] for row in digits_run.predictions]
    assert [shown.number(name) for name in names[:3]] == [0, 1, 2]
    with pytest.raises(InputError, match=f"no test bag '{names[0]}x'; did you mean"):
        shown.number(f"{names[0]}x")
