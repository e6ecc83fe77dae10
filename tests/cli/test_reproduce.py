import json

import pytest

from bagwise.evaluation.comparison.plan import make_plan
from bagwise.paper.experiments import Recipe, Setting
from bagwise.paper.recipes import RECIPES
from command_line import bagwise, run_rejected


def test_reproduce_lists_experiments():
    listed = bagwise("reproduce", "list", "--json")
    assert {"table1", "mnist-bags"} <= json.loads(listed.stdout).keys()


def test_reproduce_rejects_unknown_names(tmp_path):
    assert "did you mean 'table1'" in run_rejected("reproduce", "tabel1", cwd=tmp_path)
    assert "neither a setting nor a method" in run_rejected("reproduce", "table1", "--only", "musk9", cwd=tmp_path)


@pytest.mark.parametrize(
    ("words", "repeats"),
    [
        pytest.param((), 5, marks=pytest.mark.full),
        (("--quick",), 1),
        pytest.param(("--quick", "--repeats", "2"), 2, marks=pytest.mark.full),
    ],
)
def test_reproduce_quick_has_one_repeat_by_default(monkeypatch, tmp_path, words, repeats):
    def settings(repeats, quick):
        plans = [make_plan("needles", {"naive": {}}, options={"n_bags": 20, "seed": draw}) for draw in range(repeats)]
        return [Setting("one", "table1", "musk1", plans)]

    monkeypatch.setitem(RECIPES, "tiny", Recipe("tiny", "accuracy", False, settings))
    made = json.loads(bagwise("reproduce", "tiny", *words, "--out", tmp_path, "--json").stdout)
    assert {row["n_repeats"] for row in made["results"]} == {repeats}
