"""Stains and colours of whole bags of patches (Ruifrok & Johnston 2001; Reinhard et al. 2001).

    density = −log((image + 1) / 256)        stains = density · M⁻¹        rows of M: haematoxylin, eosin, residual

Images are float tensors (n, height, width, 3) of values 0 … 255, channels last, as bags store them. The added one is
Ruifrok & Johnston's: black stays finite, so every step has an exact inverse, for 0 and 255 too.
"""

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from bagwise.slides.cutting import LUMA, WHITE

Images = Float[Tensor, "n height width 3"]

STAINS = ((0.65, 0.70, 0.29), (0.07, 0.99, 0.11), (0.27, 0.57, 0.78))  # the third (DAB) takes what H&E leaves over
XYZ = ((0.412453, 0.357580, 0.180423), (0.212671, 0.715160, 0.072169), (0.019334, 0.119193, 0.950227))  # of linear sRGB
DAYLIGHT = (0.95047, 1.0, 1.08883)  # D65, seen under 2°
BEND = 6 / 29  # where CIE Lab's cube root becomes a straight line


class ColourTarget(NamedTuple):
    """Mean and standard deviation of L, a and b that colours are moved to."""

    mean: tuple[float, float, float]
    deviation: tuple[float, float, float]


HISTOLOGY = ColourTarget((57.4, 39.9, -22.34), (15.84, 9.14, 6.58))  # of H&E tissue, from colon cancer images


def deconvolve(images: Images) -> Images:
    """How much haematoxylin, eosin and residual lies on each pixel.

    >>> pixel = torch.tensor([[[[0.0, 128.0, 255.0]]]])
    >>> recompose(deconvolve(pixel)).round().abs().flatten().tolist()
    [0.0, 128.0, 255.0]
    """
    density = -((images + 1) / 256).log()
    return density @ torch.linalg.inv(_matrix(STAINS, images))


def recompose(stains: Images) -> Images:
    """The image of these stains: the inverse of ``deconvolve``."""
    return (-(stains @ _matrix(STAINS, stains))).exp() * 256 - 1


def scale_stains(images: Images, factors: Float[Tensor, "n 2"]) -> Images:
    """Multiply haematoxylin and eosin of each image by its two factors; what would leave 0 … 255 is cut off."""
    ones = torch.ones_like(factors[:, :1])
    return recompose(deconvolve(images) * torch.cat([factors, ones], dim=1)[:, None, None]).clamp(0, 255)


def to_lab(images: Images) -> Images:
    """CIE Lab of sRGB images: lightness 0 … 100, a from green to red, b from blue to yellow.

    >>> to_lab(torch.full((1, 1, 1, 3), 255.0)).round().abs().flatten().tolist()
    [100.0, 0.0, 0.0]
    """
    values = images / 255
    linear = torch.where(values > 0.04045, ((values.clamp(min=0) + 0.055) / 1.055) ** 2.4, values / 12.92)
    ratios = linear @ _matrix(XYZ, images).T / images.new_tensor(DAYLIGHT)
    bent = torch.where(ratios > BEND**3, ratios.clamp(min=BEND**3) ** (1 / 3), ratios / (3 * BEND**2) + 4 / 29)
    x, y, z = bent.unbind(-1)
    return torch.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], dim=-1)


def from_lab(lab: Images) -> Images:
    """The sRGB image of Lab colours: the inverse of ``to_lab``; a colour that sRGB lacks leaves 0 … 255."""
    lightness, a, b = lab.unbind(-1)
    y = (lightness + 16) / 116
    bent = torch.stack([y + a / 500, y, y - b / 200], dim=-1)
    ratios = torch.where(bent > BEND, bent**3, (bent - 4 / 29) * 3 * BEND**2)
    linear = ratios * lab.new_tensor(DAYLIGHT) @ torch.linalg.inv(_matrix(XYZ, lab)).T
    curved = 1.055 * linear.clamp(min=0.0031308) ** (1 / 2.4) - 0.055
    return torch.where(linear > 0.0031308, curved, linear * 12.92) * 255


def normalize_colour(images: Images, target: ColourTarget = HISTOLOGY, white: float = WHITE) -> Images:
    """Move each image's Lab colours to the target's mean and standard deviation (Reinhard).

    Pixels with a grey value above ``white`` are background: they neither count nor change. What does not vary in an
    image is only moved, not stretched.
    """
    lab = to_lab(images)
    tissue = (images @ images.new_tensor(LUMA.tolist()) <= white).unsqueeze(-1)
    count = tissue.sum(dim=(1, 2), keepdim=True).clamp(min=1)
    mean = (lab * tissue).sum(dim=(1, 2), keepdim=True) / count
    deviation = (((lab - mean) * tissue) ** 2).sum(dim=(1, 2), keepdim=True).div(count).sqrt()
    stretch = torch.where(deviation > 1e-3, lab.new_tensor(target.deviation) / deviation.clamp(min=1e-3), 1.0)
    moved = from_lab((lab - mean) * stretch + lab.new_tensor(target.mean))
    return torch.where(tissue, moved.clamp(0, 255), images)


def _matrix(rows: tuple[tuple[float, ...], ...], like: Tensor) -> Tensor:
    return torch.tensor(rows, dtype=like.dtype, device=like.device)
