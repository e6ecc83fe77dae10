"""Boxes: every fold is a dot, the mean a larger one, and names are read as they are."""

import numpy as np

from bagwise.figures import draw_box_plot

VALUES = {"one": np.array([[0.5, 0.7], [0.6, np.nan]]), "$two$": np.array([[0.9, 0.8]])}


def test_every_fold_is_a_dot_and_undefined_ones_are_left_out(axes):
    draw_box_plot(axes, VALUES, "accuracy")
    dots = [collection.get_offsets()[:, 0].tolist() for collection in axes.collections]
    assert dots == [[0.5, 0.7, 0.6], [np.mean([0.5, 0.7, 0.6])], [0.9, 0.8], [np.mean([0.9, 0.8])]]
    heights = [collection.get_offsets()[:, 1] for collection in axes.collections]
    assert (np.abs(heights[0] - 1) < 0.3).all(), "the first name stands at the top"
    assert [label.get_text() for label in axes.get_yticklabels()] == ["one", "$two$"]


def test_a_method_without_a_value_keeps_its_line(axes):
    draw_box_plot(axes, {"none": np.array([[np.nan]]), "one": np.array([[0.4]])}, "AUC")
    axes.figure.canvas.draw()
    assert len(axes.get_yticklabels()) == 2
