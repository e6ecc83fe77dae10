from types import SimpleNamespace

import pytest

from bagwise.cli.options import read_options
from bagwise.cli.ranking_output import (
    WIDTH,
    describe_omissions,
    format_options,
    make_rows,
    make_train_command,
    shorten_middle,
)


@pytest.mark.parametrize("width", [5, 8, 15])
def test_shorten_middle_keeps_both_ends(width):
    name = "multiple instance committee"
    short = shorten_middle(name, width)
    start, end = short.split("…")
    assert len(short) == width
    assert name.startswith(start)
    assert name.endswith(end)
    assert shorten_middle("naive", width) == "naive"


@pytest.mark.parametrize(
    "options",
    [
        {"n_bags": 50, "label": "active", "sep": "7", "rate": 1e-5, "balanced": True, "sizes": [1, 2]},
        {"label": "with space", "quoted": 'a "b"', "word": "true", "path": "x/y.csv", "empty": ""},
    ],
)
def test_format_options_is_the_inverse_of_read_options(options):
    assert read_options(format_options(options)) == options


def test_make_train_command_can_be_pasted_into_a_shell():
    plan = {"methods": {"extra trees": {"n_trees": 5}, "majority": {}}, "positive": "it's", "grouped": False}
    ranking = SimpleNamespace(names=["majority", "extra trees"])
    found = make_train_command("my data.csv", SimpleNamespace(plan=plan), ranking, {"label": "a b"})
    assert found == (
        "bagwise train 'my data.csv' runs/extra-trees --method 'extra trees' --method-option n_trees=5 "
        "--data-option 'label=a b' --positive 'it'\"'\"'s' --ungrouped"
    )


@pytest.mark.parametrize("interval_by", ["bootstrap", "corrected error"])
def test_make_rows_fits_long_names_into_80_columns(interval_by):
    errors = SimpleNamespace(mean=0.5, corrected_error=0.1, interval=(-0.25, 0.75), interval_by=interval_by)
    titles = {"auc": "AUC", "log_loss": "Log loss", "balanced": "Balanced accuracy", "calibration": "Calibration error"}
    name = "a method with a very long name of more than forty letters"
    scores = {name: dict.fromkeys(titles, SimpleNamespace(errors=errors))}
    ranking = SimpleNamespace(names=[name], methods=[SimpleNamespace(method=name, marks="~!")])
    header, (row,) = make_rows(scores, titles, ranking, marked=True)
    widths = [max(map(len, [*title.split("\n"), cell])) for title, cell in zip(header, row, strict=True)]
    assert sum(widths) + 3 * len(widths) + 1 <= WIDTH
    assert row[0].startswith("a meth")
    assert row[0].endswith("tters ~!")


def test_describe_omissions_names_everything_that_the_train_command_leaves_out():
    plan = {"selection": {}, "adjust": [], "ensemble": 1}
    assert describe_omissions(plan) == ""
    found = describe_omissions({"selection": {"MI-SVM": {"C": [1, 2]}}, "adjust": ["calibration"], "ensemble": 3})
    assert found == (
        "This command trains one model without the selected parameters, the learned calibration, the ensemble of 3."
    )
