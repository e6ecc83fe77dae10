"""A strip of a bag: every instance with its weight, the key instances framed."""

import numpy as np
import pytest
from matplotlib.colors import to_rgb

from bagwise.figures import draw_bag_strip
from bagwise.figures.style import BLUE, VERMILLION


@pytest.mark.parametrize("shape", [(8, 6), (8, 6, 1), (8, 6, 3), (5,)])
def test_bag_strip_writes_each_weight_and_frames_the_key_instances(axes, shape):
    weights = np.array([0.5, 0.3, 0.15, 0.05])
    key = np.array([True, False, True, False])
    draw_bag_strip(axes, np.random.default_rng(0).random((4, *shape)), weights, key, columns=3)
    assert [text.get_text() for text in axes.texts] == ["0.50", "0.30", "0.15", "0.05"]
    frames = [patch for patch in axes.patches if patch.get_facecolor()[3] == 0]
    assert [to_rgb(frame.get_edgecolor()) == to_rgb(VERMILLION) for frame in frames] == key.tolist()
    assert len(axes.images) == (0 if len(shape) == 1 else 4)
    if len(shape) == 1:
        bars = [patch.get_height() for patch in axes.patches if to_rgb(patch.get_facecolor()) == to_rgb(BLUE)]
        assert bars == weights.tolist()


def test_small_weights_have_digits_enough_to_be_told_apart(axes):
    draw_bag_strip(axes, np.zeros((3, 5)), np.array([0.0227, 0.0214, 0.0003]))
    assert [text.get_text() for text in axes.texts] == ["0.0227", "0.0214", "0.0003"]
