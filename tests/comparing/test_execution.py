import json

import pytest

from bagwise.comparing import Comparison, compare
from bagwise.comparing.plan import make_plan
from bagwise.errors import InputError
from bagwise.files import damages

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


def test_a_folder_holds_one_comparison(tmp_path):
    compare(tmp_path / "one", plan(repeats=1))
    with pytest.raises(InputError, match="holds a comparison of other methods, data or folds"):
        compare(tmp_path / "one", plan(repeats=2))
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("dear …")
    with pytest.raises(InputError, match="exists and is not a comparison"):
        compare(tmp_path / "mine", plan())


def test_pages_written_later_do_not_break_the_seal(tmp_path):
    compare(tmp_path / "one", plan(repeats=1))
    (tmp_path / "one" / "table.csv").write_text("a,b\n")
    compare(tmp_path / "one", plan(repeats=1))
    assert damages(tmp_path / "one") == []
    (tmp_path / "one" / "table.csv").write_text("changed")
    assert damages(tmp_path / "one") == []
    assert Comparison(tmp_path / "one").plan["repeats"] == 1
