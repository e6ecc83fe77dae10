"""Calibration: each bin is a dot."""

import numpy as np

from bagwise.curves import CalibrationBins
from bagwise.figures import draw_calibration


def test_calibration_draws_a_dot_a_bin_whose_area_grows_with_its_bags(axes):
    bins = CalibrationBins(np.array([0.6, 0.95]), np.array([0.5, 1.0]), np.array([2, 8]))
    draw_calibration(axes, bins, lowest=0.5)
    dots = axes.collections[-1]
    np.testing.assert_array_equal(dots.get_offsets(), [[0.6, 0.5], [0.95, 1.0]])
    assert np.diff(dots.get_sizes()) > 0
