"""Augmentation of stored images in training: stains, quarter turns and mirrors for histology, affine for grey images.

Every draw is a function of (seed, layer, step, row), as in ``dropout``: a resumed run, or a bag read in pieces, sees
the same patches. The modules stand before the standardisation and take instances as bags store them, channels last.
"""

import math
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Shaped
from torch import Tensor, nn
from torch.nn import functional

from bagwise import randomness
from bagwise.errors import InputError
from bagwise.names import choose
from bagwise.places import Placed
from bagwise.randomness import Purpose
from bagwise.slides.stains import HISTOLOGY, ColourTarget, normalize_colour, scale_stains

Pictures = Float[Tensor, "n height width *channels"]


class Augmentation(Placed):
    """Draws from where the run stands; outside a run it draws from torch's global generator."""

    def draw(self, rows: int, columns: int) -> Float[np.ndarray, "rows columns"]:
        """Uniform numbers above 0 and below 1, a row an instance."""
        if self.place is None:
            drawn = torch.randint(0, 1 << 32, (rows, columns)).numpy()
        else:
            seed, step, first_row = self.place
            drawn = randomness.bits(seed, Purpose.AUGMENTATION, (self.layer, step), first_row, (rows, columns))
        return (drawn + 0.5) / (1 << 32)


class HistologyAugmentation(Augmentation):
    """The paper's augmentation of H&E patches: stain strength, quarter turns, mirroring, colour normalisation.

    spread : standard deviation of the two factors, around one, that a patch's haematoxylin and eosin are multiplied by
    turns, mirror : whether patches are turned by 0, 90, 180 or 270 degrees, and mirrored every other time
    normalize : move each patch's colours to ``target``; a preprocessing, hence done in evaluation too
    peak : the value of full white in the stored images: 255 for bytes, 1 for floats from 0 to 1

    >>> patches = torch.randint(0, 256, (5, 27, 27, 3), dtype=torch.uint8)
    >>> HistologyAugmentation().train()(patches).shape
    torch.Size([5, 27, 27, 3])
    """

    def __init__(
        self,
        spread: float = 0.02,
        turns: bool = True,
        mirror: bool = True,
        normalize: bool = False,
        target: ColourTarget = HISTOLOGY,
        peak: float = 255.0,
    ) -> None:
        super().__init__()
        if not 0 <= spread < 1:
            raise InputError(f"stain spread is {spread}; it must be at least 0 and below 1")
        self.spread, self.turns, self.mirror = spread, turns, mirror
        self.normalize, self.target, self.peak = normalize, target, peak

    def forward(self, instances: Shaped[Tensor, "n height width 3"]) -> Float[Tensor, "n height width 3"]:
        images = _floats(instances)
        scale = 255 / self.peak
        if self.training:
            drawn = self.draw(len(images), 3)
            if self.spread:
                factors = torch.from_numpy(stain_factors(drawn[:, :2], self.spread)).to(images)
                images = scale_stains(images * scale, factors) / scale
            codes = (drawn[:, 2] * 8).astype(np.int64)
            codes &= (3 if self.turns else 0) | (4 if self.mirror else 0)
            images = turn(images, torch.from_numpy(codes).to(images.device))
        return normalize_colour(images * scale, self.target) / scale if self.normalize else images

    def extra_repr(self) -> str:
        return f"spread={self.spread}, turns={self.turns}, mirror={self.mirror}, normalize={self.normalize}"


class AffineAugmentation(Augmentation):
    """Small random turns, changes of size, shears and shifts of images on a black ground, such as MNIST's digits.

    degrees, scale, shear, shift : the largest change in either direction; scale is a share, shift in pixels. Each is
    drawn evenly from its range. Images are (height, width) or (height, width, channels).
    """

    def __init__(self, degrees: float = 15, scale: float = 0.15, shear: float = 0.2, shift: float = 2) -> None:
        super().__init__()
        if min(degrees, scale, shear, shift) < 0 or scale >= 1:
            raise InputError(f"augmentation ({degrees=}, {scale=}, {shear=}, {shift=}): none below 0, scale below 1")
        self.degrees, self.scale, self.shear, self.shift = degrees, scale, shear, shift

    def forward(self, instances: Shaped[Tensor, "n height width *channels"]) -> Pictures:
        images = _floats(instances)
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


def stain_factors(uniform: Float[np.ndarray, "n 2"], spread: float) -> Float[np.ndarray, "n 2"]:
    """Two independent Gaussian factors around one from two uniform numbers (Box & Muller 1958)."""
    radius, angle = np.sqrt(-2 * np.log(uniform[:, 0])), 2 * np.pi * uniform[:, 1]
    return 1 + spread * radius[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)


def turn(images: Tensor, codes: Shaped[Tensor, " n"]) -> Tensor:
    """Turn each image by (code mod 4) quarters, then mirror it if its code is 4 or more; no pixel changes its value."""
    if (codes % 2).any() and images.shape[1] != images.shape[2]:
        raise InputError(
            f"patches of {images.shape[2]}×{images.shape[1]} pixels cannot be turned by a quarter; pass turns=False"
        )
    turned = images.clone()
    for code in range(1, 8):
        chosen = codes == code
        if not chosen.any():
            continue
        patches = torch.rot90(images[chosen], code % 4, dims=(1, 2))
        turned[chosen] = patches.flip(2) if code >= 4 else patches
    return turned


def _floats(instances: Tensor) -> Tensor:
    return instances if instances.is_floating_point() else instances.float()


AUGMENTATIONS: dict[str, type[Augmentation]] = {"histology": HistologyAugmentation, "affine": AffineAugmentation}


def build_augmentation(augmentation: Any) -> nn.Module:
    """The module itself, or the one of that name with its defaults."""
    if isinstance(augmentation, nn.Module):
        return augmentation
    if not isinstance(augmentation, str):
        raise InputError(f"augmentation is a {type(augmentation).__name__}; give a name or a module")
    return choose(augmentation, AUGMENTATIONS, "augmentation")()
