"""Small random turns, changes of size, shears and shifts, for images on a black ground such as MNIST's digits."""

import math

import numpy as np
import torch
from jaxtyping import Float, Shaped
from torch import Tensor
from torch.nn import functional

from bagwise.augmentation.contract import Augmentation, Pictures, floats
from bagwise.errors import InputError


class AffineAugmentation(Augmentation):
    """Changes images in training, passes them through in evaluation.

    degrees, scale, shear, shift : the largest change in either direction; scale is a share, shift in pixels. Each is
    drawn evenly from its range. Images are (height, width) or (height, width, channels).
    """

    def __init__(self, degrees: float = 15, scale: float = 0.15, shear: float = 0.2, shift: float = 2) -> None:
        super().__init__()
        if not (min(degrees, scale, shear, shift) >= 0 and scale < 1 and max(degrees, shear, shift) < math.inf):
            raise InputError(f"augmentation ({degrees=}, {scale=}, {shear=}, {shift=}): none below 0, scale below 1")
        self.degrees, self.scale, self.shear, self.shift = degrees, scale, shear, shift

    def forward(self, instances: Shaped[Tensor, "n ..."]) -> Pictures:
        if instances.ndim not in (3, 4):
            raise InputError(
                f"augmentation 'affine' takes images, and these instances have the shape {tuple(instances.shape[1:])}; "
                "train without augmentation"
            )
        images = floats(instances)
        if not self.training:
            return images
        layered = images.unsqueeze(1) if images.ndim == 3 else images.movedim(-1, 1)
        matrices = torch.from_numpy(self._matrices(len(images), *images.shape[1:3])).to(images)
        grid = functional.affine_grid(matrices, list(layered.shape), align_corners=False)
        moved = functional.grid_sample(layered, grid, align_corners=False)
        return moved.squeeze(1) if images.ndim == 3 else moved.movedim(1, -1)

    def _matrices(self, rows: int, height: int, width: int) -> Float[np.ndarray, "rows 2 3"]:
        """From a pixel of the result to its place in the image, in torch's units: the image spans −1 … 1."""
        angle, scale, shear, x, y = (self.draw(rows, 5) * 2 - 1).T * np.array(
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
