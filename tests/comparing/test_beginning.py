import json

import pytest

from bagwise.comparing import compare
from bagwise.comparing.plan import make_plan
from bagwise.datasets import load_dataset
from bagwise.errors import InputError
from bagwise.manifests import damages

OPTIONS = {"n_bags": 20}
NAIVE, EXTRA = {"naive": {}}, {"extra trees": {}}


def plan(methods=NAIVE, **words):
    return make_plan("needles", methods, options=OPTIONS, **{"folds": 2, **words})


def numbers(folder):
    return {path.name: json.loads(path.read_text())["predictions"] for path in folder.rglob("units/naive/*.json")}


def test_methods_and_repeats_may_be_added_and_what_was_done_stays(tmp_path):
    compare(tmp_path / "one", plan())
    before = numbers(tmp_path / "one")
    grown = compare(tmp_path / "one", plan({**NAIVE, **EXTRA}, repeats=2))
    assert {name: len(units) for name, units in grown.units.items()} == {"naive": 4, "extra trees": 4}
    after = numbers(tmp_path / "one")
    assert {name: after[name] for name in before} == before
    assert after == numbers(compare(tmp_path / "whole", plan(repeats=2)).folder)


@pytest.mark.parametrize(
    "other",
    [
        plan({"naive": {"standardize": False}}),
        plan(folds=3),
        plan(seed=1),
        plan(selection={"naive": {"standardize": [True, False]}}),
        plan(adjust=["threshold"]),
        plan(ensemble=2),
        plan()._replace(peeking=True),
    ],
    ids=["parameters", "folds", "seed", "selection", "adjust", "ensemble", "peeking"],
)
def test_anything_else_is_another_comparison(tmp_path, other):
    compare(tmp_path / "one", plan())
    with pytest.raises(InputError, match="holds a comparison of other methods, data or folds"):
        compare(tmp_path / "one", other)


def test_a_plan_written_before_a_field_was_known_goes_on(tmp_path):
    compare(tmp_path / "one", plan())
    written = json.loads((tmp_path / "one" / "plan.json").read_text())
    assert written["plan"].pop("peeking") is False
    (tmp_path / "one" / "manifest.json").unlink()
    (tmp_path / "one" / "plan.json").write_text(json.dumps(written))
    assert len(compare(tmp_path / "one", plan(repeats=2)).units["naive"]) == 4


def test_what_is_not_asked_for_again_stays(tmp_path):
    compare(tmp_path / "one", plan(repeats=2))
    both = compare(tmp_path / "one", plan(EXTRA))
    assert {name: len(units) for name, units in both.units.items()} == {"naive": 4, "extra trees": 2}
    assert both.plan["repeats"] == 2
    assert compare(tmp_path / "one", plan()).units.keys() == both.units.keys()


def test_one_that_was_cut_while_it_grew_is_whole_and_goes_on(tmp_path, monkeypatch):
    compare(tmp_path / "one", plan())

    def cut(*arguments, **words):
        raise KeyboardInterrupt

    monkeypatch.setattr("bagwise.comparing.execution.judge_split", cut)
    with pytest.raises(KeyboardInterrupt):
        compare(tmp_path / "one", plan(EXTRA))
    assert damages(tmp_path / "one") == []
    monkeypatch.undo()
    assert len(compare(tmp_path / "one", plan(EXTRA)).units["extra trees"]) == 2
    assert (tmp_path / "one" / "manifest.json").read_text().count("plan.json") == 1


def test_a_file_of_splits_that_changed_is_seen(tmp_path):
    names = load_dataset("needles", **OPTIONS).names
    path = tmp_path / "splits.csv"

    def write(shift):
        moved = [*names[shift:], *names[:shift]]
        rows = [
            f"{place},{train},,{test}" for place, (train, test) in enumerate(zip(moved[:10], moved[10:], strict=True))
        ]
        path.write_text("\n".join([",train,val,test", *rows]))

    write(0)
    compare(tmp_path / "one", make_plan("needles", NAIVE, options=OPTIONS, splits=[str(path)]))
    write(3)
    with pytest.raises(InputError, match="a comparison of other splits"):
        compare(tmp_path / "one", make_plan("needles", NAIVE, options=OPTIONS, splits=[str(path)]))


def test_units_that_were_changed_are_never_sealed_again(tmp_path):
    compare(tmp_path / "one", plan())
    unit = next((tmp_path / "one").rglob("units/naive/*.json"))
    unit.write_text(unit.read_text().replace('"fold": 0', '"fold": 1'))
    with pytest.raises(InputError, match=r"is damaged: units/naive/.*SHA-256"):
        compare(tmp_path / "one", plan())


def test_a_mistake_before_the_first_unit_claims_no_folder(tmp_path):
    with pytest.raises(InputError, match="C is 'abc'"):
        compare(tmp_path / "one", plan({"MI-SVM": {"C": "abc"}}))
    compare(tmp_path / "one", plan())
