import copy

import pytest

from bagwise.io.csv_files import read_csv
from bagwise.io.json_files import read_json
from bagwise.runs.file_checks import (
    check_history,
    check_metrics,
    check_parameters,
    check_predictions,
    check_screening,
    check_training,
)
from bagwise.targets.classes import ClassTarget

TWO_CLASSES = ClassTarget.unnamed(2)
ROW = {"bag": "a", "n_instances": "3", "label": "0", "predicted": "1", "probability 0": "0.25", "probability 1": "0.75"}


def test_checks_accept_the_files_of_a_run(digits_run):
    folder = digits_run.folder
    assert check_predictions(read_csv(folder / "predictions.csv"), TWO_CLASSES)[0]["bag"]
    assert [row["epoch"] for row in check_history(read_csv(folder / "history.csv"))] == [1.0, 2.0]
    for check, name in ((check_metrics, "metrics.json"), (check_parameters, "parameters.json")):
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
def test_check_predictions_rejects_invalid_rows(change):
    assert check_predictions([ROW], TWO_CLASSES) == [ROW]
    with pytest.raises(ValueError, match=r"row 2|could not convert"):
        check_predictions([ROW, {**ROW, **change}], TWO_CLASSES)


def test_check_predictions_rejects_an_empty_table_and_missing_columns():
    with pytest.raises(ValueError, match="no predictions"):
        check_predictions([], TWO_CLASSES)
    with pytest.raises(ValueError, match="row 1 does not have the columns"):
        check_predictions([{name: value for name, value in ROW.items() if name != "label"}], TWO_CLASSES)


@pytest.mark.parametrize("row", [{"bag": "a"}, {"bag": "a", "use": None}, {"bag": "a", "use": "training", "odd": "x"}])
def test_check_training_rejects_other_columns(row):
    assert check_training([{"bag": "a", "use": "training", "group": "p"}])
    with pytest.raises(ValueError, match="columns"):
        check_training([row])


SCREENED = {"method": "trees", "weight": "0.5", "estimated_seconds": "", **dict.fromkeys(TWO_CLASSES.metrics, "0.25")}


def test_check_screening_converts_numbers_and_undefined_ones():
    (row,) = check_screening([{**SCREENED, "auc": ""}], TWO_CLASSES)
    assert (row["method"], row["weight"], row["estimated_seconds"]) == ("trees", 0.5, None)
    assert (row["auc"], row["log_loss"]) == (None, 0.25)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"weight": "nan"}, "not finite"),
        ({"log_loss": "inf"}, "not finite"),
        ({"weight": "1.5"}, "between 0 and 1"),
        ({"weight": ""}, "between 0 and 1"),
        ({"auc": "much"}, "could not convert"),
        ({"odd": "1"}, "columns"),
        ({"auc": None}, "columns"),
    ],
    ids=str,
)
def test_check_screening_rejects_invalid_rows(change, message):
    with pytest.raises(ValueError, match=message):
        check_screening([SCREENED, {**SCREENED, **change}], TWO_CLASSES)


def test_check_history_rejects_other_columns():
    with pytest.raises(ValueError, match="columns"):
        check_history([{"epoch": "1"}])
