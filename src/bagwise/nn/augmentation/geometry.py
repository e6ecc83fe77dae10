"""Geometric augmentations: random affine transformations and randomly shifted crops."""

import math

import numpy as np
import torch
from jaxtyping import Float, Shaped
from torch import Tensor
from torch.nn import functional

from bagwise.errors import InputError
from bagwise.nn.augmentation.base import Augmentation, Images, as_float_images, gaussian_from_uniform


class AffineAugmentation(Augmentation):
    """Random affine transformation of each image in training mode; the identity in evaluation mode.

    Each parameter of the transformation is sampled uniformly between minus and plus its limit. Images have the shape
    (height, width) or (height, width, channels).

    Parameters
    ----------
    degrees : float, default=15
        Largest rotation, in degrees.
    scale : float, default=0.15
        Largest relative change of size, below 1.
    shear : float, default=0.2
        Largest shear.
    shift : float, default=2
        Largest shift in each direction, in pixels.
    """

    def __init__(self, degrees: float = 15, scale: float = 0.15, shear: float = 0.2, shift: float = 2) -> None:
        super().__init__()
        if not (min(degrees, scale, shear, shift) >= 0 and scale < 1 and max(degrees, shear, shift) < math.inf):
            raise InputError(
                "augmentation 'affine': degrees, scale, shear and shift must be finite, at least 0, and scale below 1, "
                f"got {degrees=}, {scale=}, {shear=}, {shift=}"
            )
        self.degrees, self.scale, self.shear, self.shift = degrees, scale, shear, shift

    def forward(self, instances: Shaped[Tensor, "n ..."]) -> Images:
        if instances.ndim not in (3, 4):
            raise InputError(
                f"augmentation 'affine' needs images, got instances of shape {tuple(instances.shape[1:])}; "
                "use augmentation=None"
            )
        images = as_float_images(instances)
        if not self.training:
            return images
        channels_first = images.unsqueeze(1) if images.ndim == 3 else images.movedim(-1, 1)
        matrices = torch.from_numpy(self._sample_matrices(len(images), *images.shape[1:3])).to(images)
        grid = functional.affine_grid(matrices, list(channels_first.shape), align_corners=False)
        transformed = functional.grid_sample(channels_first, grid, align_corners=False)
        return transformed.squeeze(1) if images.ndim == 3 else transformed.movedim(1, -1)

    def _sample_matrices(self, rows: int, height: int, width: int) -> Float[np.ndarray, "rows 2 3"]:
        """Sample matrices that map output to input coordinates, both normalised from −1 to 1 as in ``affine_grid``."""
        angle, scale, shear, x, y = (self.sample_uniform(rows, 5) * 2 - 1).T * np.array(
            [[math.radians(self.degrees)], [self.scale], [self.shear], [self.shift], [self.shift]]
        )
        cosine, sine, size = np.cos(angle), np.sin(angle), 1 + scale
        linear = np.stack([cosine, shear * cosine - sine, sine, shear * sine + cosine], axis=1).reshape(rows, 2, 2)
        linear /= size[:, None, None]
        half = np.array([width / 2, height / 2])
        shifts = np.stack([x, y], axis=1)[..., None] / half[:, None]
        return np.concatenate([linear * half / half[:, None], shifts], axis=2)

    def extra_repr(self) -> str:
        return f"degrees={self.degrees}, scale={self.scale}, shear={self.shear}, shift={self.shift}"


class ShiftedCrop(Augmentation):
    """Crop around the centre of each image, shifted at random in training mode.

        corner = (side − size) / 2 + round(spread · n)        n ~ N(0, 1) in each direction, clipped to the image

    The shift accounts for inexact annotations of the centres of nuclei. Store the images with a margin around the crop,
    so that it can be shifted.

    Parameters
    ----------
    size : int, default=27
        Height and width of the crop, in pixels.
    spread : float, default=3.0
        Standard deviation of the shift, in pixels.

    Examples
    --------
    >>> ShiftedCrop(27).eval()(torch.zeros(5, 39, 39, 3)).shape
    torch.Size([5, 27, 27, 3])
    """

    def __init__(self, size: int = 27, spread: float = 3.0) -> None:
        super().__init__()
        if size < 1 or not 0 <= spread < np.inf:
            raise InputError(f"crop: size must be at least 1 and spread at least 0, got {size=}, {spread=}")
        self.size, self.spread = size, spread

    def forward(self, instances: Shaped[Tensor, "n ..."]) -> Images:
        if instances.ndim not in (3, 4) or min(instances.shape[1:3]) < self.size:
            raise InputError(
                f"crop needs images of at least {self.size}×{self.size} pixels, got instances of shape "
                f"{tuple(instances.shape[1:])}; store the images with a margin"
            )
        margin = np.array(instances.shape[1:3]) - self.size
        corners = np.broadcast_to(margin // 2, (len(instances), 2))
        if self.training:
            shifts = np.rint(self.spread * gaussian_from_uniform(self.sample_uniform(len(instances), 2))).astype(
                np.int64
            )
            corners = np.clip(corners + shifts, 0, margin)
        return _crop(instances, torch.from_numpy(corners.astype(np.int64)).to(instances.device), self.size)

    def extra_repr(self) -> str:
        return f"size={self.size}, spread={self.spread}"


def _crop(images: Images, corners: Shaped[Tensor, "n 2"], size: int) -> Shaped[Tensor, "n {size} {size} *channels"]:
    """Crop a square from each image at its corner (row, column), for all images at once."""
    side = torch.arange(size, device=images.device)
    rows, columns = corners[:, :1] + side, corners[:, 1:] + side
    numbers = torch.arange(len(images), device=images.device)
    return images[numbers[:, None, None], rows[:, :, None], columns[:, None, :]]
