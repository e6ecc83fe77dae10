"""Augmentation of H&E patches (Ilse et al. 2018): stain strength, rotation, mirroring, colour normalisation."""

import numpy as np
import torch
from jaxtyping import Float, Shaped
from torch import Tensor

from bagwise.errors import InputError
from bagwise.nn.augmentation.base import Augmentation, as_float_images, gaussian_from_uniform
from bagwise.nn.stains import HISTOLOGY, ColourTarget, normalize_colour, scale_stains


class HistologyAugmentation(Augmentation):
    """Random stain strength, rotation and mirroring of H&E patches in training mode (Ilse et al. 2018).

    Parameters
    ----------
    spread : float, default=0.02
        Standard deviation of the random factors, with mean one, by which the haematoxylin and the eosin of a patch are
        multiplied.
    turns : bool, default=True
        Whether to rotate patches by a random multiple of 90 degrees.
    mirror : bool, default=True
        Whether to mirror patches with probability 1/2.
    normalize : bool, default=False
        Whether to normalise the colours of each patch to ``target``. This is preprocessing, so it is also applied in
        evaluation mode.
    target : ColourTarget, default=HISTOLOGY
        Mean and standard deviation of the normalised colours.
    peak : float, default=255.0
        Value of white in the stored images: 255 for bytes, 1 for floats between 0 and 1.

    Examples
    --------
    Compare patches before and after augmentation:

    >>> from matplotlib.figure import Figure
    >>> from bagwise.figures import plot_patches
    >>> patches = torch.randint(0, 256, (5, 27, 27, 3), dtype=torch.uint8)
    >>> changed = HistologyAugmentation(spread=0.1).train()(patches)
    >>> figure = Figure(figsize=(8, 3))
    >>> axes = plot_patches(figure.subplots(), [("stored", patches.numpy()), ("augmented", changed.numpy())])
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
            raise InputError(f"stain spread must be at least 0 and below 1, got {spread}")
        if not 0 < peak < np.inf:
            raise InputError(f"peak must be the value of white in the images, above 0 (255 for bytes), got {peak}")
        self.spread, self.turns, self.mirror = spread, turns, mirror
        self.normalize, self.target, self.peak = normalize, target, peak

    def forward(self, instances: Shaped[Tensor, "n ..."]) -> Float[Tensor, "n height width 3"]:
        self._check(instances)
        images = as_float_images(instances)
        scale = 255 / self.peak
        if self.training:
            uniform = self.sample_uniform(len(images), 3)
            if self.spread:
                factors = torch.from_numpy(1 + self.spread * gaussian_from_uniform(uniform[:, :2])).to(images)
                images = scale_stains(images * scale, factors) / scale
            codes = (uniform[:, 2] * 8).astype(np.int64)
            codes &= (3 if self.turns else 0) | (4 if self.mirror else 0)
            images = turn_images(images, torch.from_numpy(codes).to(images.device))
        return normalize_colour(images * scale, self.target) / scale if self.normalize else images

    def _check(self, instances: Tensor) -> None:
        if instances.ndim != 4 or instances.shape[3] != 3:
            raise InputError(
                "augmentation 'histology' needs colour images of shape (height, width, 3), got instances of shape "
                f"{tuple(instances.shape[1:])}; use augmentation=None"
            )
        if self.turns and instances.shape[1] != instances.shape[2]:
            size = f"{instances.shape[2]}×{instances.shape[1]}"
            raise InputError(
                f"patches of {size} pixels are not square and cannot be rotated by 90 degrees; "
                "use HistologyAugmentation(turns=False)"
            )
        if instances.numel() and not 0 <= instances.min() <= instances.max() <= self.peak:
            found = f"{float(instances.min()):.3g} to {float(instances.max()):.3g}"
            raise InputError(
                f"augmentation 'histology' needs values from 0 to {self.peak:.6g}, got {found}; pass the images "
                "without scaling, or set the value of white with HistologyAugmentation(peak=…)"
            )

    def extra_repr(self) -> str:
        colours = f"normalize={self.normalize}, target={tuple(self.target)}, peak={self.peak}"
        return f"spread={self.spread}, turns={self.turns}, mirror={self.mirror}, {colours}"


def turn_images(images: Tensor, codes: Shaped[Tensor, " n"]) -> Tensor:
    """Rotate each image by (code mod 4) · 90 degrees, then mirror it if its code is at least 4."""
    turned = images.clone()
    for code in range(1, 8):
        selected = codes == code
        if not selected.any():
            continue
        patches = torch.rot90(images[selected], code % 4, dims=(1, 2))
        turned[selected] = patches.flip(2) if code >= 4 else patches
    return turned
