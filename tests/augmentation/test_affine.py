"""Affine changes: nothing drawn is the image itself, shifts are in pixels, turns do not distort."""

import numpy as np
import pytest
import torch

from bagwise.augmentation.affine import AffineAugmentation
from bagwise.errors import InputError
from bagwise.places import Place

DIGITS = torch.from_numpy(np.random.default_rng(1).integers(0, 256, (40, 12, 10), dtype=np.uint8))


def applied(module, images):
    module.place = Place(seed=5, step=3)
    return module.train()(images)


def test_without_change_it_is_the_image_and_shifts_are_in_pixels():
    still = applied(AffineAugmentation(0, 0, 0, 0), DIGITS)
    torch.testing.assert_close(still, DIGITS.float(), atol=1e-3, rtol=0)
    dots = torch.zeros(300, 21, 15)
    dots[:, 10, 7] = 1
    moved = applied(AffineAugmentation(0, 0, 0, shift=2), dots)
    rows = (moved * torch.arange(21.0)[:, None]).sum(dim=(1, 2)) / moved.sum(dim=(1, 2))
    columns = (moved * torch.arange(15.0)).sum(dim=(1, 2)) / moved.sum(dim=(1, 2))
    for places, middle in ((rows, 10), (columns, 7)):
        assert (places - middle).abs().max() <= 2.001
        assert places.min() < middle - 1.8
        assert places.max() > middle + 1.8


def test_it_turns_without_distortion_in_a_wide_image():
    wide = torch.zeros(50, 21, 41)
    wide[:, 10, 30] = 1  # ten pixels right of the middle
    turned = applied(AffineAugmentation(15, 0, 0, 0), wide)
    mass = turned.sum(dim=(1, 2))
    x = (turned * torch.arange(41.0)).sum(dim=(1, 2)) / mass - 20
    y = (turned * torch.arange(21.0)[:, None]).sum(dim=(1, 2)) / mass - 10
    assert ((x**2 + y**2).sqrt() - 10).abs().max() < 0.3
    assert torch.atan2(y, x).abs().max() <= np.radians(15.5)
    assert torch.atan2(y, x).abs().max() > np.radians(12)


def test_impossible_parameters_and_instances_are_refused():
    for options in ({"scale": 1.0}, {"shift": -1}, {"degrees": float("nan")}, {"shear": float("inf")}):
        with pytest.raises(InputError, match="scale below 1"):
            AffineAugmentation(**options)
    with pytest.raises(InputError, match=r"takes images, and these instances have the shape \(166,\)"):
        AffineAugmentation().eval()(torch.zeros(4, 166))
