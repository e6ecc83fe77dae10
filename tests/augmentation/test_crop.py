"""Crops: the exact centre in evaluation, moved by a rounded Gaussian in training, never beyond the image."""

import numpy as np
import pytest
import torch

from bagwise.augmentation.crop import ShiftedCrop
from bagwise.errors import InputError
from bagwise.places import Place


def numbered(count, height, width):
    """Images whose every pixel says where it lies: row, column, image."""
    rows, columns, images = np.meshgrid(np.arange(height), np.arange(width), np.arange(count), indexing="ij")
    return torch.from_numpy(np.stack([rows, columns, images], axis=-1).astype(np.int16)).movedim(2, 0)


def moves(size, spread, count, height, width):
    """Where the cuts begin, having checked that each is a whole square of its own image."""
    module = ShiftedCrop(size, spread).train()
    module.place = Place(5, 0)
    cuts = module(numbered(count, height, width))
    corners = cuts[:, 0, 0, :2]
    square = numbered(1, size, size)[0, ..., :2]
    assert torch.equal(cuts[..., :2], corners[:, None, None] + square)
    assert torch.equal(cuts[..., 2], torch.arange(count)[:, None, None].expand(count, size, size))
    return corners.numpy()


@pytest.mark.parametrize(("height", "width", "corner"), [(39, 39, (6, 6)), (27, 33, (0, 3)), (30, 27, (1, 0))])
def test_evaluation_cuts_the_exact_centre(height, width, corner):
    images = numbered(3, height, width)
    cut = ShiftedCrop(27).eval()(images)
    assert cut.dtype == images.dtype
    assert torch.equal(cut, images[:, corner[0] : corner[0] + 27, corner[1] : corner[1] + 27])
    assert torch.equal(ShiftedCrop(27).eval()(images[..., 0]), cut[..., 0])  # grey images too


def test_in_training_the_centre_moves_by_a_rounded_gaussian():
    corners = moves(size=3, spread=3.0, count=8000, height=33, width=35) - [15, 16]
    assert np.abs(corners.mean(axis=0)).max() < 5 * 3 / np.sqrt(len(corners))
    assert corners.std(axis=0) == pytest.approx(np.sqrt(3**2 + 1 / 12), rel=0.03)  # rounding adds a twelfth
    assert abs(np.corrcoef(corners.T)[0, 1]) < 5 / np.sqrt(len(corners))
    assert (corners == 0).mean() == pytest.approx(0.1324, abs=0.02)  # the Gaussian's share within half a pixel


def test_moves_end_at_the_margin():
    corners = moves(size=27, spread=3.0, count=2000, height=31, width=29)
    assert np.unique(corners[:, 0]).tolist() == [0, 1, 2, 3, 4]
    assert np.unique(corners[:, 1]).tolist() == [0, 1, 2]
    assert (moves(size=27, spread=3.0, count=20, height=27, width=27) == 0).all()
    assert (moves(size=27, spread=0.0, count=20, height=31, width=33) == [2, 3]).all()


@pytest.mark.parametrize("shape", [(4, 26, 40, 3), (4, 40, 26), (4, 166)])
def test_what_is_too_small_is_refused(shape):
    with pytest.raises(InputError, match=r"crop takes images of at least 27×27 pixels.*load them with a margin"):
        ShiftedCrop(27)(torch.zeros(shape))


@pytest.mark.parametrize("options", [{"size": 0}, {"spread": -1.0}, {"spread": float("nan")}, {"spread": float("inf")}])
def test_impossible_parameters_are_refused(options):
    with pytest.raises(InputError, match="size is at least 1, spread at least 0"):
        ShiftedCrop(**options)
