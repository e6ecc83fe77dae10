import pytest

from bagwise.report.page_templates import format_number
from bagwise.report.run_figures import render_figures


def render_by_title(summary):
    return {figure.title: figure for figure in render_figures(summary)}


def test_render_figures_has_titles_and_captions_for_screen_readers(summary):
    figures = render_figures(summary)
    assert len(figures) == 6
    for figure in figures:
        assert f">{figure.title}</title>" in figure.svg
        assert f">{figure.caption}</desc>" in figure.svg


def test_render_figures_has_the_numbers_of_the_summary_in_captions(summary):
    captions = {title: figure.caption for title, figure in render_by_title(summary).items()}
    values = {name: format_number(metric["value"]) for name, metric in summary["metrics"].items()}
    assert captions["ROC curve"] == f"AUC {values['auc']}; the dashed diagonal is chance."
    assert captions["Precision and recall"].startswith(f"Average precision {values['average_precision']}; ")
    assert captions["Calibration"].startswith(f"Calibration error {values['calibration_error']}; ")
    correct = sum(row[index] for index, row in enumerate(summary["confusion"]))
    n_bags = summary["metadata"]["n_bags"]
    assert captions["Confusion matrix"].startswith(f"{correct} of {n_bags} bags are classified correctly; ")


def test_render_figures_labels_several_curves_by_class(summary):
    names = ["_hidden", "$\\frac", "cow"]  # matplotlib leaves out labels that begin with an underscore
    several = {kind: [summary[kind][0] | {"class": name} for name in names] for kind in ("roc", "precision_recall")}
    figures = render_by_title(summary | several)
    for title, area_title, area in (
        ("ROC curve", "Mean AUC", "auc"),
        ("Precision and recall", "Mean average precision", "average_precision"),
    ):
        value = format_number(summary["metrics"][area]["value"])
        assert figures[title].caption.startswith(f"{area_title} {value}; ")
        assert all(f"{value} {name}" in figures[title].svg for name in names)


def test_render_figures_leaves_out_a_class_without_a_curve(summary):
    (curve,) = summary["roc"]
    undefined = {"class": "rare", "auc": None, "points": None}
    roc = [curve | {"class": "ant"}, curve | {"class": "bee"}, undefined]
    svg = render_by_title(summary | {"roc": roc})["ROC curve"].svg
    assert "ant" in svg
    assert "rare" not in svg


@pytest.mark.parametrize(
    ("key", "value", "title", "reason"),
    [
        ("roc", [{"class": "1", "points": None}], "ROC curve", "Undefined: all test bags are of one class."),
        (
            "precision_recall",
            [{"class": "1", "points": None}],
            "Precision and recall",
            "Undefined: no test bag is positive.",
        ),
    ],
)
def test_render_figures_gives_the_reason_if_there_is_no_figure(summary, key, value, title, reason):
    assert render_by_title(summary | {key: value})[title] == (title, reason, None)


def render_learning_curves(summary, **changes):
    network = summary["metadata"]["network"] | {"networks": 1} | changes
    return render_by_title(summary | {"metadata": summary["metadata"] | {"network": network}})["Learning curves"]


def test_render_figures_has_no_learning_curves_for_methods_without_epochs(summary):
    figures = render_by_title(summary | {"metadata": summary["metadata"] | {"network": None}})
    assert "Learning curves" not in figures
    assert "Calibration" in figures


@pytest.mark.parametrize(
    ("validated", "reason"),
    [
        (True, "it has the lowest validation error + loss"),
        (False, "it is the last, and no bags chose the epoch"),
    ],
)
def test_render_figures_states_why_an_epoch_was_kept(summary, validated, reason):
    caption = render_learning_curves(summary, best_epoch=2, validated=validated).caption
    assert caption == f"The parameters of epoch 2 (dashed) were kept: {reason}."


def test_render_figures_states_that_epochs_were_averaged(summary):
    caption = render_learning_curves(summary, averaged_epochs=5).caption
    assert caption == "The parameters are the average of the last 5 epochs."


def test_render_figures_states_that_losses_are_averages_over_networks(summary):
    caption = render_learning_curves(summary, networks=5).caption
    assert caption.endswith("Losses and errors are averages over 5 networks, one per fold.")
