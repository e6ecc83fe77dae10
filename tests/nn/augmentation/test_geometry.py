import numpy as np
import pytest
import torch

from bagwise.errors import InputError
from bagwise.nn.augmentation.geometry import AffineAugmentation, ShiftedCrop
from bagwise.nn.dropout import StreamPosition

DIGITS = torch.from_numpy(np.random.default_rng(1).integers(0, 256, (40, 12, 10), dtype=np.uint8))


def augment(module, images):
    module.position = StreamPosition(seed=5, step=3)
    return module.train()(images)


def test_affine_without_changes_is_the_identity():
    unchanged = augment(AffineAugmentation(0, 0, 0, 0), DIGITS)
    torch.testing.assert_close(unchanged, DIGITS.float(), atol=1e-3, rtol=0)


def test_affine_shifts_are_in_pixels():
    dots = torch.zeros(300, 21, 15)
    dots[:, 10, 7] = 1
    shifted = augment(AffineAugmentation(0, 0, 0, shift=2), dots)
    rows = (shifted * torch.arange(21.0)[:, None]).sum(dim=(1, 2)) / shifted.sum(dim=(1, 2))
    columns = (shifted * torch.arange(15.0)).sum(dim=(1, 2)) / shifted.sum(dim=(1, 2))
    for coordinates, centre in ((rows, 10), (columns, 7)):
        assert (coordinates - centre).abs().max() <= 2.001
        assert coordinates.min() < centre - 1.8
        assert coordinates.max() > centre + 1.8


def test_affine_rotation_does_not_distort_a_wide_image():
    wide = torch.zeros(50, 21, 41)
    wide[:, 10, 30] = 1  # ten pixels to the right of the centre
    rotated = augment(AffineAugmentation(15, 0, 0, 0), wide)
    mass = rotated.sum(dim=(1, 2))
    x = (rotated * torch.arange(41.0)).sum(dim=(1, 2)) / mass - 20
    y = (rotated * torch.arange(21.0)[:, None]).sum(dim=(1, 2)) / mass - 10
    assert ((x**2 + y**2).sqrt() - 10).abs().max() < 0.3
    assert torch.atan2(y, x).abs().max() <= np.radians(15.5)
    assert torch.atan2(y, x).abs().max() > np.radians(12)


@pytest.mark.parametrize(
    "options", [{"scale": 1.0}, {"shift": -1}, {"degrees": float("nan")}, {"shear": float("inf")}], ids=str
)
def test_affine_rejects_invalid_parameters_and_names_their_values(options):
    (name,) = options
    with pytest.raises(InputError, match=f"scale below 1, got .*{name}={options[name]}"):
        AffineAugmentation(**options)


def test_affine_rejects_vectors():
    with pytest.raises(InputError, match=r"needs images, got instances of shape \(166,\)"):
        AffineAugmentation().eval()(torch.zeros(4, 166))


def coordinate_images(count, height, width):
    """Return images whose channels contain the row, the column and the image index of each pixel."""
    rows, columns, images = np.meshgrid(np.arange(height), np.arange(width), np.arange(count), indexing="ij")
    return torch.from_numpy(np.stack([rows, columns, images], axis=-1).astype(np.int16)).movedim(2, 0)


def crop_corners(size, spread, count, height, width):
    """Return the corners of the crops, after checking that each crop is a contiguous square of its image."""
    module = ShiftedCrop(size, spread).train()
    module.position = StreamPosition(5, 0)
    crops = module(coordinate_images(count, height, width))
    corners = crops[:, 0, 0, :2]
    square = coordinate_images(1, size, size)[0, ..., :2]
    assert torch.equal(crops[..., :2], corners[:, None, None] + square)
    assert torch.equal(crops[..., 2], torch.arange(count)[:, None, None].expand(count, size, size))
    return corners.numpy()


@pytest.mark.parametrize(("height", "width", "corner"), [(39, 39, (6, 6)), (27, 33, (0, 3)), (30, 27, (1, 0))])
def test_shifted_crop_in_evaluation_mode_is_the_exact_centre(height, width, corner):
    images = coordinate_images(3, height, width)
    crop = ShiftedCrop(27).eval()(images)
    assert crop.dtype == images.dtype
    assert torch.equal(crop, images[:, corner[0] : corner[0] + 27, corner[1] : corner[1] + 27])
    assert torch.equal(ShiftedCrop(27).eval()(images[..., 0]), crop[..., 0])  # grey images


def test_shifted_crop_in_training_mode_is_shifted_by_a_rounded_gaussian():
    shifts = crop_corners(size=3, spread=3.0, count=8000, height=33, width=35) - [15, 16]
    assert np.abs(shifts.mean(axis=0)).max() < 5 * 3 / np.sqrt(len(shifts))
    assert shifts.std(axis=0) == pytest.approx(np.sqrt(3**2 + 1 / 12), rel=0.03)  # rounding adds a variance of 1/12
    assert abs(np.corrcoef(shifts.T)[0, 1]) < 5 / np.sqrt(len(shifts))
    assert (shifts == 0).mean() == pytest.approx(0.1324, abs=0.02)  # probability of a Gaussian shift below half a pixel


def test_shifted_crop_stays_within_the_image():
    corners = crop_corners(size=27, spread=3.0, count=2000, height=31, width=29)
    assert np.unique(corners[:, 0]).tolist() == [0, 1, 2, 3, 4]
    assert np.unique(corners[:, 1]).tolist() == [0, 1, 2]
    assert (crop_corners(size=27, spread=3.0, count=20, height=27, width=27) == 0).all()
    assert (crop_corners(size=27, spread=0.0, count=20, height=31, width=33) == [2, 3]).all()


@pytest.mark.parametrize("shape", [(4, 26, 40, 3), (4, 40, 26), (4, 166)])
def test_shifted_crop_rejects_images_that_are_too_small(shape):
    with pytest.raises(InputError, match=r"crop needs images of at least 27×27 pixels.*store the images with a margin"):
        ShiftedCrop(27)(torch.zeros(shape))


@pytest.mark.parametrize("options", [{"size": 0}, {"spread": -1.0}, {"spread": float("nan")}, {"spread": float("inf")}])
def test_shifted_crop_rejects_invalid_parameters_and_names_their_values(options):
    (name,) = options
    with pytest.raises(InputError, match=f"at least 1 and spread at least 0, got .*{name}={options[name]}"):
        ShiftedCrop(**options)
