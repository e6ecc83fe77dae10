"""Tests of stain and colour operations: exact inverses, and agreement with scikit-image."""

import numpy as np
import pytest
import torch

from bagwise.nn.stains import (
    HISTOLOGY,
    ColourTarget,
    combine_stains,
    convert_from_lab,
    convert_to_lab,
    normalize_colour,
    scale_stains,
    separate_stains,
)

LEVELS = torch.tensor([0.0, 1.0, 20.0, 127.0, 200.0, 254.0, 255.0])
COLOUR_GRID = torch.cartesian_prod(LEVELS, LEVELS, LEVELS).reshape(7, 7, 7, 3)
PATCHES = torch.from_numpy(np.random.default_rng(0).integers(0, 256, (6, 9, 9, 3))).float()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize(("convert", "invert"), [(separate_stains, combine_stains), (convert_to_lab, convert_from_lab)])
def test_combine_stains_and_convert_from_lab_are_exact_inverses(convert, invert, dtype):
    for images in (COLOUR_GRID, PATCHES):
        returned = invert(convert(images.to(dtype)))
        assert returned.dtype == dtype
        torch.testing.assert_close(returned, images.to(dtype), atol=2e-3 if dtype == torch.float32 else 1e-4, rtol=0)


def test_separate_stains_agrees_with_scikit_image():
    color = pytest.importorskip("skimage.color")
    images = PATCHES.double()
    # scikit-image uses −log(rgb) in units of log(10⁶), clipped at zero
    expected = color.rgb2hed(((images + 1) / 256).numpy()) * np.log(1e6)
    np.testing.assert_allclose(separate_stains(images).clamp(min=0).numpy(), expected, atol=1e-6)


def test_convert_to_lab_agrees_with_scikit_image():
    color = pytest.importorskip("skimage.color")
    for images in (PATCHES.double(), COLOUR_GRID.double()):
        np.testing.assert_allclose(convert_to_lab(images).numpy(), color.rgb2lab(images.numpy() / 255), atol=2e-3)


def test_scale_stains_by_one_is_the_identity_and_larger_factors_darken():
    images = PATCHES.clamp(20, 235)
    torch.testing.assert_close(scale_stains(images, torch.ones(6, 2)), images, atol=1e-3, rtol=0)
    pinkish = torch.tensor([190.0, 110.0, 170.0]).expand(2, 4, 4, 3)
    darker = scale_stains(pinkish, torch.tensor([[1.2, 1.0], [1.0, 1.2]]))
    assert (darker.mean(dim=(1, 2, 3)) < pinkish.mean()).all()


def test_scale_stains_uses_the_factors_of_each_image_and_stays_in_range():
    factors = torch.tensor([[0.5, 2.0]]).repeat(6, 1)
    factors[3] = 1.0
    scaled = scale_stains(PATCHES, factors)
    torch.testing.assert_close(scaled[3], PATCHES[3], atol=1e-3, rtol=0)
    assert scaled.min() >= 0
    assert scaled.max() <= 255
    single = scale_stains(PATCHES[:1], factors[:1])
    torch.testing.assert_close(single, scaled[:1])


def test_normalize_colour_gives_the_mean_and_deviation_of_the_target():
    tissue = torch.from_numpy(np.random.default_rng(1).normal((150, 110, 160), 12, (4, 20, 20, 3))).clamp(0, 214)
    target = ColourTarget((55.0, 20.0, -12.0), (6.0, 4.0, 3.0))
    lab = convert_to_lab(normalize_colour(tissue, target))
    torch.testing.assert_close(lab.mean(dim=(1, 2)), torch.tensor(target.mean).double().expand(4, 3), atol=1e-2, rtol=0)
    deviation = lab.std(dim=(1, 2), correction=0)
    torch.testing.assert_close(deviation, torch.tensor(target.deviation).double().expand(4, 3), atol=1e-2, rtol=0)


def test_normalize_colour_ignores_white_pixels_and_does_not_change_them():
    tissue = torch.from_numpy(np.random.default_rng(1).normal((150, 110, 160), 12, (1, 20, 20, 3))).float()
    half_white = tissue.clone()
    half_white[:, 10:] = 240
    normalized = normalize_colour(half_white)
    assert torch.equal(normalized[:, 10:], half_white[:, 10:])
    torch.testing.assert_close(normalized[:, :10], normalize_colour(tissue[:, :10]), atol=1e-2, rtol=0)
    blank = torch.full((2, 5, 5, 3), 255.0)
    assert torch.equal(normalize_colour(blank), blank)


def test_normalize_colour_shifts_a_patch_of_one_colour_without_scaling():
    flat = normalize_colour(torch.full((1, 4, 4, 3), 90.0))
    assert torch.isfinite(flat).all()
    torch.testing.assert_close(flat, flat[:, :1, :1].expand_as(flat))
    torch.testing.assert_close(convert_to_lab(flat)[0, 0, 0], torch.tensor(HISTOLOGY.mean), atol=0.1, rtol=0)
