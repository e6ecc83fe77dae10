"""Confusions: every count can be read."""

import numpy as np
from matplotlib.colors import to_rgb

from bagwise.figures import draw_confusion


def test_confusion_writes_counts_and_shares_of_the_true_class(axes):
    draw_confusion(axes, np.array([[3, 1], [0, 0]]), ["no", "a very long name of a class"])
    assert [text.get_text() for text in axes.texts] == ["3\n75%", "1\n25%", "0\n0%", "0\n0%"]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["no", "a very l…class"]


def test_confusion_is_legible_in_every_cell(axes, contrast):
    draw_confusion(axes, np.array([[9, 1], [5, 5]]), ["a", "b"])
    mesh = axes.collections[0]
    mesh.update_scalarmappable()
    for cell, text in zip(mesh.get_facecolor(), axes.texts, strict=True):
        assert contrast(cell[:3], to_rgb(text.get_color())) > 4.5
