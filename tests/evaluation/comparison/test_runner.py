import json

import numpy as np
import pytest

from bagwise.bags.folder import save_bags
from bagwise.data.datasets.registry import load_dataset
from bagwise.errors import InputError
from bagwise.evaluation.comparison.comparison_folder import Comparison
from bagwise.evaluation.comparison.plan import make_plan
from bagwise.evaluation.comparison.runner import compare_methods
from bagwise.io.manifest import find_damage

OPTIONS = {"n_bags": 20}
NAIVE, EXTRA_TREES = {"naive": {}}, {"extra trees": {}}
TWO_METHODS = {"MI-Kernel": {"calibration": False}, "attention": {"epochs": 1}}


def plan_folds(methods=NAIVE, **arguments):
    return make_plan("needles", methods, options=OPTIONS, **{"folds": 2, **arguments})


def read_units(folder):
    """The content of all units except for the times."""
    return {
        path.relative_to(folder).as_posix(): {
            key: value for key, value in json.loads(path.read_text()).items() if key != "seconds"
        }
        for path in sorted((folder / "units").rglob("*.json"))
    }


def count_units(comparison):
    return {name: len(units) for name, units in comparison.units.items()}


def interrupt(*arguments, **keywords):
    raise KeyboardInterrupt


def test_compare_methods_does_not_depend_on_the_workers(tmp_path):
    for workers in (1, 2):
        compare_methods(tmp_path / str(workers), plan_folds(TWO_METHODS, repeats=2), workers=workers)
    assert read_units(tmp_path / "1") == read_units(tmp_path / "2")
    assert len(read_units(tmp_path / "1")) == 8
    assert find_damage(tmp_path / "1") == []


def test_compare_methods_resumes_to_the_same_result(tmp_path):
    plan = plan_folds(TWO_METHODS, repeats=2)
    whole = compare_methods(tmp_path / "whole", plan)

    def interrupt_after_three(done, total):
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        compare_methods(tmp_path / "resumed", plan, progress=interrupt_after_three)
    assert len(read_units(tmp_path / "resumed")) == 3
    reported = []
    compare_methods(tmp_path / "resumed", plan, progress=lambda done, total: reported.append((done, total)))
    assert reported[0] == (3, 8)
    assert reported[-1] == (8, 8)
    assert read_units(tmp_path / "resumed") == read_units(whole.folder)


def test_compare_methods_adds_methods_and_repeats(tmp_path):
    compare_methods(tmp_path / "extended", plan_folds())
    before = read_units(tmp_path / "extended")
    extended = compare_methods(tmp_path / "extended", plan_folds({**NAIVE, **EXTRA_TREES}, repeats=2))
    assert count_units(extended) == {"naive": 4, "extra trees": 4}
    after = read_units(tmp_path / "extended")
    assert {name: after[name] for name in before} == before
    whole = read_units(compare_methods(tmp_path / "whole", plan_folds(repeats=2)).folder)
    assert {name: unit for name, unit in after.items() if "naive" in name} == whole


def test_compare_methods_keeps_methods_and_repeats_that_are_not_requested_again(tmp_path):
    compare_methods(tmp_path / "comparison", plan_folds(repeats=2))
    both = compare_methods(tmp_path / "comparison", plan_folds(EXTRA_TREES))
    assert count_units(both) == {"naive": 4, "extra trees": 2}
    assert both.plan["repeats"] == 2
    assert compare_methods(tmp_path / "comparison", plan_folds()).units.keys() == both.units.keys()


@pytest.mark.parametrize(
    "other",
    [
        plan_folds({"naive": {"scaling": "none"}}),
        plan_folds(folds=3),
        plan_folds(seed=1),
        plan_folds(selection={"naive": {"scaling": ["standard", "none"]}}),
        plan_folds(adjust=["threshold"]),
        plan_folds(ensemble=2),
        plan_folds()._replace(peeking=True),
    ],
    ids=["parameters", "folds", "seed", "selection", "adjust", "ensemble", "peeking"],
)
def test_compare_methods_rejects_to_resume_another_plan(tmp_path, other):
    compare_methods(tmp_path / "comparison", plan_folds())
    with pytest.raises(InputError, match="has a comparison with different methods, data or folds"):
        compare_methods(tmp_path / "comparison", other)


def test_compare_methods_rejects_to_resume_with_a_changed_split_file(tmp_path):
    names = load_dataset("needles", **OPTIONS).names
    path = tmp_path / "splits.csv"

    def compare_shifted(shift):
        shifted = [*names[shift:], *names[:shift]]
        rows = [f"{row},{shifted[row]},,{shifted[row + 10]}" for row in range(10)]
        path.write_text("\n".join([",train,val,test", *rows]))
        compare_methods(tmp_path / "comparison", make_plan("needles", NAIVE, options=OPTIONS, splits=[str(path)]))

    compare_shifted(0)
    with pytest.raises(InputError, match="has a comparison with different splits"):
        compare_shifted(3)


def test_compare_methods_resumes_a_plan_without_newer_fields(tmp_path):
    folder = tmp_path / "comparison"
    compare_methods(folder, plan_folds())
    stored = json.loads((folder / "plan.json").read_text())
    assert stored["plan"].pop("peeking") is False
    (folder / "manifest.json").unlink()
    (folder / "plan.json").write_text(json.dumps(stored))
    assert len(compare_methods(folder, plan_folds(repeats=2)).units["naive"]) == 4


def test_compare_methods_stays_valid_when_interrupted_while_extending(tmp_path, monkeypatch):
    folder = tmp_path / "comparison"
    compare_methods(folder, plan_folds())
    monkeypatch.setattr("bagwise.evaluation.comparison.runner.evaluate_split", interrupt)
    with pytest.raises(KeyboardInterrupt):
        compare_methods(folder, plan_folds(EXTRA_TREES))
    assert find_damage(folder) == []
    monkeypatch.undo()
    assert len(compare_methods(folder, plan_folds(EXTRA_TREES)).units["extra trees"]) == 2
    assert (folder / "manifest.json").read_text().count("plan.json") == 1


def test_compare_methods_rejects_changed_units(tmp_path):
    compare_methods(tmp_path / "comparison", plan_folds())
    unit = next((tmp_path / "comparison").rglob("units/naive/*.json"))
    unit.write_text(unit.read_text().replace('"fold": 0', '"fold": 1'))
    with pytest.raises(InputError, match=r"is damaged: units/naive/"):
        compare_methods(tmp_path / "comparison", plan_folds())


@pytest.mark.parametrize("written", ["manifest.json", "plan.json", "units/attention/0-0.json"])
def test_compare_methods_removes_temporary_files_of_killed_processes(tmp_path, written):
    folder = tmp_path / "comparison"
    compare_methods(folder, plan_folds(TWO_METHODS))
    temporary = (folder / written).with_name(".tmp-9127f3b991d50f33")
    temporary.write_text("{")
    compare_methods(folder, plan_folds(TWO_METHODS))
    assert not temporary.exists()
    assert find_damage(folder) == []


def test_compare_methods_rejects_a_folder_with_other_content(tmp_path):
    (tmp_path / "letter.txt").write_text("dear …")
    with pytest.raises(InputError, match=rf"{tmp_path.name} exists and is not a comparison"):
        compare_methods(tmp_path, plan_folds())


def test_compare_methods_checks_everything_before_writing(tmp_path):
    with pytest.raises(InputError, match="workers"):
        compare_methods(tmp_path / "comparison", plan_folds(), workers=0)
    save_bags(load_dataset("needles", n_bags=30).replace(labels=np.arange(30) % 3), tmp_path / "three")
    plan = make_plan(str(tmp_path / "three"), {"MI-SVM": {}, "naive": {}}, folds=2)
    with pytest.raises(InputError, match=r"has the classes .*, which MI-SVM cannot predict"):
        compare_methods(tmp_path / "comparison", plan)
    assert not (tmp_path / "comparison").exists()


def test_compare_methods_does_not_occupy_a_folder_if_the_first_fit_fails(tmp_path):
    with pytest.raises(InputError, match="'abc'"):
        compare_methods(tmp_path / "comparison", plan_folds({"MI-SVM": {"C": "abc"}}))
    compare_methods(tmp_path / "comparison", plan_folds())


def test_compare_methods_with_one_test_set_has_bootstrap_intervals(tmp_path):
    methods = {"MI-Kernel": {"calibration": False}, "minimax kernel": {"calibration": False}}
    options = {"n_bags": 20, "n_test_bags": 20}
    comparison = compare_methods(tmp_path / "comparison", make_plan("digits", methods, options=options, repeats=2))
    for metrics in comparison.scores.values():
        errors = metrics["accuracy"].errors
        assert errors.interval_by == "bootstrap"
        assert errors.interval[0] < errors.mean < errors.interval[1]
    (pair,) = comparison.differences("accuracy")
    assert 0 < pair.difference.p_value <= 1
    assert pair.difference.interval[0] < pair.difference.interval[1]


def test_compare_methods_does_not_seal_tables_and_pages(tmp_path):
    folder = tmp_path / "comparison"
    compare_methods(folder, plan_folds())
    (folder / "table.csv").write_text("a,b\n")
    compare_methods(folder, plan_folds())
    assert find_damage(folder) == []
    (folder / "table.csv").write_text("changed")
    assert find_damage(folder) == []
    assert Comparison(folder).plan["repeats"] == 1
