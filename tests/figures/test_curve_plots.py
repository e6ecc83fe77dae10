"""Curve plots show the given points and labels."""

import numpy as np

from bagwise.figures.curve_plots import plot_learning_curves, plot_precision_recall, plot_removal_curves, plot_roc
from bagwise.targets.curves import compute_precision_recall, compute_roc
from bagwise.targets.outputs import Output

OUTPUT = Output("probability yes", "yes", "probability", 0.0, 1.0)

POSITIVE, SCORES = np.array([True, False, True, False]), np.array([0.9, 0.8, 0.7, 0.1])


def test_plot_roc_shows_each_curve_with_its_label(axes):
    curves = [("first", compute_roc(POSITIVE, SCORES)), ("second", compute_roc(POSITIVE, -SCORES))]
    assert plot_roc(axes, curves) is axes
    lines = {line.get_label(): line.get_xydata() for line in axes.lines}
    for label, points in curves:
        np.testing.assert_array_equal(lines[label], np.column_stack(points))
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["first", "second"]


def test_plot_precision_recall_shows_steps_and_the_positive_share(axes):
    points = compute_precision_recall(POSITIVE, SCORES)
    plot_precision_recall(axes, [("bags", points)])
    curve, baseline = axes.lines
    np.testing.assert_array_equal(curve.get_xydata(), np.column_stack(points))
    assert curve.get_drawstyle() == "steps-post"
    assert set(baseline.get_ydata()) == {0.5}


def test_plot_removal_curves_shows_both_curves_and_the_whole_bag(axes):
    shares, deletion, insertion = np.array([0, 0.5, 1]), np.array([0.9, 0.3, 0.5]), np.array([0.5, 0.8, 0.9])
    assert plot_removal_curves(axes, shares, deletion, insertion, OUTPUT) is axes
    whole, without, only = axes.lines
    assert set(whole.get_ydata()) == {0.9}
    np.testing.assert_array_equal(without.get_xydata(), np.column_stack([shares, deletion]))
    np.testing.assert_array_equal(only.get_xydata(), np.column_stack([shares, insertion]))
    assert "without" in without.get_label()
    assert "only" in only.get_label()


def test_plot_learning_curves_leaves_out_columns_that_were_not_measured(axes):
    not_measured = np.full(3, np.nan)
    history = {
        "epoch": np.arange(1.0, 4),
        "loss": np.array([3.0, 2, 1]),
        "error": np.array([0.5, 0.2, 0.1]),
        "validation_loss": not_measured,
        "validation_error": not_measured,
    }
    plot_learning_curves(axes, history, best=2)
    lines = {line.get_label(): line.get_xydata() for line in axes.lines}
    assert {"training loss", "training error"} <= lines.keys()
    assert not any("validation" in label for label in lines)
    np.testing.assert_array_equal(lines["training loss"][:, 1], [3, 2, 1])
    assert axes.lines[-1].get_xdata()[0] == 2


def test_plot_learning_curves_shows_a_single_epoch_as_a_dot(axes):
    plot_learning_curves(axes, {"epoch": np.array([1.0]), "loss": np.array([0.3])}, best=1)
    assert axes.lines[0].get_marker() == "o"
