import copy
import shutil

import pytest

from bagwise.errors import InputError
from bagwise.files import read_json, write_json
from bagwise.runs import Run
from bagwise.runs.contents import (
    checked_history,
    checked_metrics,
    checked_parameters,
    checked_predictions,
    checked_training,
)
from bagwise.runs.run import read_table
from resealing import reseal

ROW = {"bag": "a", "n_instances": "3", "label": "0", "predicted": "1", "probability 0": "0.25", "probability 1": "0.75"}


def test_a_run_of_ours_passes(digits_run):
    folder = digits_run.folder
    assert checked_predictions(read_table(folder / "predictions.csv"), ["0", "1"])[0]["bag"]
    assert [row["epoch"] for row in checked_history(read_table(folder / "history.csv"))] == [1.0, 2.0]
    for check, name in ((checked_metrics, "metrics.json"), (checked_parameters, "parameters.json")):
        content = read_json(folder / name)
        assert check(copy.deepcopy(content)) == content


@pytest.mark.parametrize(
    "change",
    [
        {"label": "2"},
        {"predicted": ""},
        {"probability 0": "nan"},
        {"probability 1": "1.5"},
        {"probability 1": "much"},
        {"n_instances": "0"},
        {"n_instances": "9" * 30},
        {None: ["more"]},
        {"label": None},
    ],
    ids=str,
)
def test_other_predictions_are_refused(change):
    assert checked_predictions([ROW], ["0", "1"]) == [ROW]
    with pytest.raises(ValueError, match=r"row 2|could not convert"):
        checked_predictions([ROW, {**ROW, **change}], ["0", "1"])


def test_no_predictions_and_other_columns_are_refused():
    for rows in ([], [{name: value for name, value in ROW.items() if name != "label"}]):
        with pytest.raises(ValueError, match=r"no predictions|other columns"):
            checked_predictions(rows, ["0", "1"])
    with pytest.raises(ValueError, match="not those of a history"):
        checked_history([{"epoch": "1"}])


@pytest.mark.parametrize(
    ("name", "place", "value"),
    [
        ("metrics.json", ("bags", "accuracy", "value"), "high"),
        ("metrics.json", ("bags", "accuracy", "interval"), [0.1]),
        ("metrics.json", ("n_bags",), "many"),
        ("metrics.json", ("bags",), []),
        ("parameters.json", ("data", "data"), 7),
        ("parameters.json", ("data",), {}),
        ("parameters.json", ("parameters", "level"), ["embedding"]),
        ("environment.json", (), ["no table"]),
    ],
)
def test_a_forged_file_is_refused_by_its_name(digits_run, tmp_path, name, place, value):
    folder = shutil.copytree(digits_run.folder, tmp_path / "run")
    content = read_json(folder / name)
    within = content
    for key in place[:-1]:
        within = within[key]
    if place:
        within[place[-1]] = value
    write_json(folder / name, content if place else value)
    reseal(folder)
    with pytest.raises(InputError, match=rf"{name} does not hold what a run consists of"):
        getattr(Run(folder), name.removesuffix(".json"))


@pytest.mark.parametrize("row", [{"bag": "a"}, {"bag": "a", "use": None}, {"bag": "a", "use": "training", "odd": "x"}])
def test_other_lines_of_training_bags_are_refused(row):
    assert checked_training([{"bag": "a", "use": "training", "group": "p"}])
    with pytest.raises(ValueError, match="columns"):
        checked_training([row])
