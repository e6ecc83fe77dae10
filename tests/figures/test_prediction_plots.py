"""Prediction plots show every bin, count and bar, with legible text."""

import numpy as np
from matplotlib.colors import to_rgb

from bagwise.figures.prediction_plots import plot_calibration, plot_confusion, plot_probability_histogram
from bagwise.targets.curves import CalibrationBins


def test_plot_calibration_shows_one_dot_per_bin_whose_area_grows_with_its_bags(axes):
    bins = CalibrationBins(np.array([0.6, 0.95]), np.array([0.5, 1.0]), np.array([2, 8]))
    plot_calibration(axes, bins, lowest=0.5)
    dots = axes.collections[-1]
    np.testing.assert_array_equal(dots.get_offsets(), [[0.6, 0.5], [0.95, 1.0]])
    assert np.diff(dots.get_sizes()) > 0


def test_plot_confusion_shows_counts_and_shares_of_the_true_class(axes):
    plot_confusion(axes, np.array([[3, 1], [0, 0]]), ["no", "a very long name of a class"])
    assert [text.get_text() for text in axes.texts] == ["3\n75%", "1\n25%", "0\n0%", "0\n0%"]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["no", "a very l…class"]


def test_plot_confusion_is_legible_in_every_cell(axes, contrast):
    plot_confusion(axes, np.array([[9, 1], [5, 5]]), ["a", "b"])
    mesh = axes.collections[0]
    mesh.update_scalarmappable()
    for cell, text in zip(mesh.get_facecolor(), axes.texts, strict=True):
        assert contrast(cell[:3], to_rgb(text.get_color())) > 4.5


def test_plot_probability_histogram_shows_bars_as_high_as_the_counts_within_their_bins(axes):
    edges = np.linspace(0, 1, 5)
    counts = [("no", np.array([4, 0, 1, 0])), ("yes", np.array([0, 2, 0, 5]))]
    plot_probability_histogram(axes, edges, counts, "probability")
    assert [patch.get_height() for patch in axes.patches] == [4, 0, 1, 0, 0, 2, 0, 5]
    for number, bar in enumerate(axes.patches):
        assert edges[number % 4] <= bar.get_x()
        assert bar.get_x() + bar.get_width() <= edges[number % 4 + 1]
