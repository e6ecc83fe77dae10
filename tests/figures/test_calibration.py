"""Calibration: bins are those of a direct count, and each is a dot."""

import numpy as np
import pytest

from bagwise.evaluation.bag_metrics import calibration_error
from bagwise.figures import calibration_bins, draw_calibration
from bagwise.figures.calibration import CalibrationBins


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_calibration_bins_are_those_of_a_direct_count(n_classes):
    generator = np.random.default_rng(n_classes)
    probabilities = generator.dirichlet(np.ones(n_classes), 200)
    probabilities[0] = np.eye(n_classes)[0]  # a confidence of just one belongs to the last bin
    targets = generator.integers(n_classes, size=200)
    bins = calibration_bins(targets, probabilities, 10)
    confidence, right = probabilities.max(axis=1), probabilities.argmax(axis=1) == targets
    place = 0
    for low in range(10):
        held = (confidence >= low / 10) & ((confidence < (low + 1) / 10) | (low == 9))
        if held.any():
            assert bins.n_bags[place] == held.sum()
            assert bins.confidence[place] == pytest.approx(confidence[held].mean())
            assert bins.share_right[place] == pytest.approx(right[held].mean())
            place += 1
    assert place == len(bins.n_bags)
    gap = (np.abs(bins.confidence - bins.share_right) * bins.n_bags).sum() / bins.n_bags.sum()
    assert gap == pytest.approx(calibration_error(targets, probabilities))


def test_calibration_draws_a_dot_a_bin_whose_area_grows_with_its_bags(axes):
    bins = CalibrationBins(np.array([0.6, 0.95]), np.array([0.5, 1.0]), np.array([2, 8]))
    draw_calibration(axes, bins, lowest=0.5)
    dots = axes.collections[-1]
    np.testing.assert_array_equal(dots.get_offsets(), [[0.6, 0.5], [0.95, 1.0]])
    assert np.diff(dots.get_sizes()) > 0
