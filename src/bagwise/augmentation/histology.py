"""The paper's augmentation of H&E patches: stain strength, quarter turns, mirroring, colour normalisation."""

import numpy as np
import torch
from jaxtyping import Float, Shaped
from torch import Tensor

from bagwise.augmentation.contract import Augmentation, floats, gaussian
from bagwise.errors import InputError
from bagwise.slides.stains import HISTOLOGY, ColourTarget, normalize_colour, scale_stains


class HistologyAugmentation(Augmentation):
    """Stains, turns and mirrors in training; colours of a whole bag of patches, no patch on its own.

    spread : standard deviation of the two factors, around one, that a patch's haematoxylin and eosin are multiplied by
    turns, mirror : whether patches are turned by 0, 90, 180 or 270 degrees, and mirrored every other time
    normalize : move each patch's colours to ``target``; a preprocessing, hence done in evaluation too
    peak : the value of full white in the stored images: 255 for bytes, 1 for floats from 0 to 1

    To see what it does to your patches:

    >>> from matplotlib.figure import Figure
    >>> from bagwise.figures.patches import draw_patches
    >>> patches = torch.randint(0, 256, (5, 27, 27, 3), dtype=torch.uint8)
    >>> changed = HistologyAugmentation(spread=0.1).train()(patches)
    >>> figure = Figure(figsize=(8, 3))
    >>> axes = draw_patches(figure.subplots(), [("stored", patches.numpy()), ("augmented", changed.numpy())])
    >>> figure.savefig("patches.png")  # doctest: +SKIP
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
        if not 0 < peak < np.inf:
            raise InputError(f"peak is {peak}; give the value of full white, 255 for bytes")
        self.spread, self.turns, self.mirror = spread, turns, mirror
        self.normalize, self.target, self.peak = normalize, target, peak

    def forward(self, instances: Shaped[Tensor, "n ..."]) -> Float[Tensor, "n height width 3"]:
        self._check(instances)
        images = floats(instances)
        scale = 255 / self.peak
        if self.training:
            drawn = self.draw(len(images), 3)
            if self.spread:
                factors = torch.from_numpy(1 + self.spread * gaussian(drawn[:, :2])).to(images)
                images = scale_stains(images * scale, factors) / scale
            codes = (drawn[:, 2] * 8).astype(np.int64)
            codes &= (3 if self.turns else 0) | (4 if self.mirror else 0)
            images = turn(images, torch.from_numpy(codes).to(images.device))
        return normalize_colour(images * scale, self.target) / scale if self.normalize else images

    def _check(self, instances: Tensor) -> None:
        if instances.ndim != 4 or instances.shape[3] != 3:
            raise InputError(
                f"augmentation 'histology' takes colour images, (height, width, 3), and these instances have the shape "
                f"{tuple(instances.shape[1:])}; train without augmentation"
            )
        if self.turns and instances.shape[1] != instances.shape[2]:
            size = f"{instances.shape[2]}×{instances.shape[1]}"
            raise InputError(f"patches of {size} pixels cannot be turned by a quarter; pass turns=False")
        if instances.numel() and not 0 <= instances.min() <= instances.max() <= self.peak:
            found = f"{float(instances.min()):.3g} to {float(instances.max()):.3g}"
            raise InputError(
                f"augmentation 'histology' takes values from 0 to {self.peak:.6g}, and these go from {found}; "
                "give the images as they were, before any scaling, or the value of full white as peak"
            )

    def extra_repr(self) -> str:
        colours = f"normalize={self.normalize}, target={tuple(self.target)}, peak={self.peak}"
        return f"spread={self.spread}, turns={self.turns}, mirror={self.mirror}, {colours}"


def turn(images: Tensor, codes: Shaped[Tensor, " n"]) -> Tensor:
    """Turn each image by (code mod 4) quarters, then mirror it if its code is 4 or more; no pixel changes its value."""
    turned = images.clone()
    for code in range(1, 8):
        chosen = codes == code
        if not chosen.any():
            continue
        patches = torch.rot90(images[chosen], code % 4, dims=(1, 2))
        turned[chosen] = patches.flip(2) if code >= 4 else patches
    return turned
