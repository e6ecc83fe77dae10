"""Comparison plots show every known value at its position."""

import numpy as np
from matplotlib.figure import Figure

from bagwise.figures.comparison_plots import plot_boxes, plot_paired_dots, plot_paired_lines

VALUES = {"first": np.array([[0.5, 0.7], [0.6, np.nan]]), "$second$": np.array([[0.9, 0.8]])}


def test_plot_paired_dots_shows_means_and_error_bars():
    pairs = {"a": ((0.9, 0.02), (0.8, None)), "b": ((0.7, None), None)}
    axes = plot_paired_dots(Figure().subplots(), pairs, ("ours", "paper"))
    ours, paper = axes.containers
    assert ours.lines[0].get_xdata().tolist() == [0.9, 0.7]
    assert paper.lines[0].get_xdata().tolist() == [0.8]
    assert np.allclose(ours.lines[2][0].get_segments()[0][:, 0], [0.88, 0.92])
    assert [text.get_text() for text in axes.get_yticklabels()] == ["a", "b"]
    assert ours.lines[0].get_ydata()[0] > paper.lines[0].get_ydata()[0] > ours.lines[0].get_ydata()[1]


def test_plot_paired_lines_leaves_out_unknown_means_and_shares_colours():
    lines = {"a": ([(0.5, 0.1), None, (0.7, None)], [(0.4, None), (0.5, None), (0.6, None)])}
    axes = plot_paired_lines(Figure().subplots(), [50, 100, 200], lines)
    own, reference = axes.lines[0], axes.lines[-1]
    assert own.get_xdata().tolist() == [50, 200]
    assert reference.get_ydata().tolist() == [0.4, 0.5, 0.6]
    assert own.get_color() == reference.get_color()
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["a"]


def test_plot_boxes_shows_every_fold_and_the_mean_and_leaves_out_nan(axes):
    plot_boxes(axes, VALUES, "accuracy")
    dots = [collection.get_offsets()[:, 0].tolist() for collection in axes.collections]
    assert dots == [[0.5, 0.7, 0.6], [np.mean([0.5, 0.7, 0.6])], [0.9, 0.8], [np.mean([0.9, 0.8])]]
    heights = [collection.get_offsets()[:, 1] for collection in axes.collections]
    assert (np.abs(heights[0] - 1) < 0.3).all(), "the first name is at the top"
    assert [label.get_text() for label in axes.get_yticklabels()] == ["first", "$second$"]


def test_plot_boxes_keeps_the_row_of_a_method_without_values(axes):
    plot_boxes(axes, {"none": np.array([[np.nan]]), "some": np.array([[0.4]])}, "AUC")
    axes.figure.canvas.draw()
    assert len(axes.get_yticklabels()) == 2
