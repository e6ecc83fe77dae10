import json

import numpy as np
import pytest

from bagwise.comparing import Comparison, compare
from bagwise.comparing.plan import make_plan
from bagwise.datasets import load_dataset
from bagwise.errors import InputError
from bagwise.manifests import damages
from bagwise.storage import save_bags

METHODS = {"MI-Kernel": {"calibration": 0}, "attention": {"epochs": 1}}


def plan(**words):
    return make_plan("needles", METHODS, options={"n_bags": 20}, **{"folds": 2, "repeats": 2, **words})


def numbers(folder):
    """Everything but the times."""
    return {
        path.relative_to(folder).as_posix(): {k: v for k, v in json.loads(path.read_text()).items() if k != "seconds"}
        for path in sorted((folder / "units").rglob("*.json"))
    }


def test_the_numbers_do_not_depend_on_the_workers(tmp_path):
    for workers in (1, 2):
        compare(tmp_path / str(workers), plan(), workers=workers)
    assert numbers(tmp_path / "1") == numbers(tmp_path / "2")
    assert len(numbers(tmp_path / "1")) == 8
    assert damages(tmp_path / "1") == []


def test_a_comparison_that_was_cut_goes_on_and_ends_the_same(tmp_path):
    whole = compare(tmp_path / "whole", plan())

    def cut(done, of):
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        compare(tmp_path / "cut", plan(), progress=cut)
    assert len(numbers(tmp_path / "cut")) == 3
    heard = []
    compare(tmp_path / "cut", plan(), progress=lambda done, of: heard.append((done, of)))
    assert heard[0] == (3, 8)
    assert heard[-1] == (8, 8)
    assert numbers(tmp_path / "cut") == numbers(whole.folder)


@pytest.mark.parametrize("written", ["manifest.json", "plan.json", "units/attention/0-0.json"])
def test_what_a_killed_process_left_is_gone_wherever_it_wrote(tmp_path, written):
    compare(tmp_path / "cut", plan())
    draft = (tmp_path / "cut" / written).with_name(".draft-9127f3b991d50f33")
    draft.write_text("{")
    compare(tmp_path / "cut", plan())
    assert not draft.exists()
    assert damages(tmp_path / "cut") == []


def test_a_folder_of_other_things_is_left_alone(tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("dear …")
    with pytest.raises(InputError, match="exists and is not a comparison"):
        compare(tmp_path / "mine", plan())


def test_mistakes_are_found_before_anything_is_written(tmp_path):
    with pytest.raises(InputError, match="workers is 0"):
        compare(tmp_path / "one", plan(), workers=0)
    bags = load_dataset("needles", n_bags=30)
    save_bags(bags.replace(labels=np.arange(30) % 3), tmp_path / "three")
    with pytest.raises(InputError, match="has 3 classes, and MI-SVM know two"):
        compare(tmp_path / "one", make_plan(str(tmp_path / "three"), {"MI-SVM": {}, "naive": {}}, folds=2))
    assert not (tmp_path / "one").exists()


def test_one_test_set_gives_intervals_by_the_bootstrap(tmp_path):
    methods = {"MI-Kernel": {"calibration": 0}, "minimax kernel": {"calibration": 0}}
    options = {"n_bags": 20, "n_test_bags": 20}
    found = compare(tmp_path / "one", make_plan("digits", methods, options=options, repeats=2))
    for metrics in found.scores.values():
        low, high = metrics["accuracy"].errors.interval
        assert low < metrics["accuracy"].errors.mean < high
    (pair,) = found.differences("accuracy")
    assert 0 < pair.difference.p_value <= 1
    assert pair.difference.interval[0] < pair.difference.interval[1]


def test_pages_written_later_do_not_break_the_seal(tmp_path):
    compare(tmp_path / "one", plan(repeats=1))
    (tmp_path / "one" / "table.csv").write_text("a,b\n")
    compare(tmp_path / "one", plan(repeats=1))
    assert damages(tmp_path / "one") == []
    (tmp_path / "one" / "table.csv").write_text("changed")
    assert damages(tmp_path / "one") == []
    assert Comparison(tmp_path / "one").plan["repeats"] == 1
