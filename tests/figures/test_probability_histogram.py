"""The histogram of probabilities: bars as high as the counts, each in its bin."""

import numpy as np

from bagwise.figures import draw_probability_histogram


def test_histogram_bars_have_the_height_of_the_counts_and_stay_in_their_bin(axes):
    edges = np.linspace(0, 1, 5)
    counts = [("no", np.array([4, 0, 1, 0])), ("yes", np.array([0, 2, 0, 5]))]
    draw_probability_histogram(axes, edges, counts, "probability")
    assert [patch.get_height() for patch in axes.patches] == [4, 0, 1, 0, 0, 2, 0, 5]
    for number, bar in enumerate(axes.patches):
        assert edges[number % 4] <= bar.get_x()
        assert bar.get_x() + bar.get_width() <= edges[number % 4 + 1]
