"""The figures of the page say what the summary says, and why where there is nothing to draw."""

import pytest

from bagwise.report.drawings import draw_figures
from bagwise.report.words import number
from bagwise.summary import summarise


@pytest.fixture(scope="module")
def summary(digits_run):
    return summarise(digits_run)


def drawn(summary):
    return {drawing.title: drawing for drawing in draw_figures(summary)}


def test_every_figure_holds_its_title_and_caption_for_those_who_do_not_see_it(summary):
    drawings = draw_figures(summary)
    assert len(drawings) == 6
    for drawing in drawings:
        assert f">{drawing.title}</title>" in drawing.svg
        assert f">{drawing.caption}</desc>" in drawing.svg


def test_captions_say_the_numbers_of_the_summary(summary):
    captions = {title: drawing.caption for title, drawing in drawn(summary).items()}
    values = {name: number(metric["value"]) for name, metric in summary["metrics"].items()}
    assert captions["ROC curve"] == f"AUC {values['auc']}; the dashed diagonal is chance."
    assert captions["Precision and recall"].startswith(f"Average precision {values['average_precision']}; dashed: ")
    assert captions["Calibration"].startswith(f"Calibration error {values['calibration_error']}; ")
    right = sum(row[number] for number, row in enumerate(summary["confusion"]))
    assert captions["Confusion"].startswith(f"{right} of {summary['facts']['n_bags']} bags are right; ")


def test_several_curves_are_captioned_by_their_mean_and_labelled_by_their_class(summary):
    names = ["_hidden", "$\\frac", "cow"]  # matplotlib leaves labels out that begin with an underscore
    several = {kind: [summary[kind][0] | {"class": name} for name in names] for kind in ("roc", "precision_recall")}
    drawings = drawn(summary | several)
    for title, words, area in (
        ("ROC curve", "Mean AUC", "auc"),
        ("Precision and recall", "Mean average precision", "average_precision"),
    ):
        value = number(summary["metrics"][area]["value"])
        assert drawings[title].caption.startswith(f"{words} {value}; ")
        assert all(f"{value} {name}" in drawings[title].svg for name in names)


def test_a_class_without_a_curve_is_left_out(summary):
    (curve,) = summary["roc"]
    missing = {"class": "rare", "auc": None, "points": None}
    svg = drawn(summary | {"roc": [curve | {"class": "ant"}, curve | {"class": "bee"}, missing]})["ROC curve"].svg
    assert "ant" in svg
    assert "rare" not in svg


@pytest.mark.parametrize(
    ("part", "value", "title", "reason"),
    [
        ("roc", [{"class": "1", "points": None}], "ROC curve", "Not defined: all test bags are of one class."),
        (
            "precision_recall",
            [{"class": "1", "points": None}],
            "Precision and recall",
            "Not defined: no test bag is positive.",
        ),
        ("history", {}, "Learning curves", "This method does not learn in epochs."),
    ],
)
def test_where_there_is_nothing_to_draw_the_reason_stands(summary, part, value, title, reason):
    assert drawn(summary | {part: value})[title] == (title, reason, None)


@pytest.mark.parametrize(
    ("validated", "reason"),
    [(True, "the least validation error + loss"), (False, "the last, as there were no validation bags")],
)
def test_the_kept_epoch_is_named_with_its_reason(summary, validated, reason):
    facts = summary["facts"] | {"best_epoch": 2, "validated": validated}
    caption = drawn(summary | {"facts": facts})["Learning curves"].caption
    assert caption == f"Kept were the weights of epoch 2 (dashed): {reason}."
