"""Stain separation and colour normalisation of batches of patches (Ruifrok & Johnston 2001; Reinhard et al. 2001).

    density = −log((image + 1) / 256)        stains = density · M⁻¹        rows of M: haematoxylin, eosin, residual

Images are float tensors of shape (n, height, width, 3) with values from 0 to 255, as stored in bags. As in Ruifrok &
Johnston, one is added to the image so that the density of black is finite. Therefore every step has an exact inverse
for all values from 0 to 255.
"""

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from bagwise.nn.grey_levels import LUMA, WHITE

Images = Float[Tensor, "n height width 3"]

STAINS = ((0.65, 0.70, 0.29), (0.07, 0.99, 0.11), (0.27, 0.57, 0.78))  # the third (DAB) is the residual of H&E
XYZ = ((0.412453, 0.357580, 0.180423), (0.212671, 0.715160, 0.072169), (0.019334, 0.119193, 0.950227))  # of linear sRGB
WHITE_POINT = (0.95047, 1.0, 1.08883)  # D65, 2° observer
LINEAR_LIMIT = 6 / 29  # below this cube root, CIE Lab is linear


class ColourTarget(NamedTuple):
    """Mean and standard deviation of the Lab channels to which colours are normalised."""

    mean: tuple[float, float, float]
    deviation: tuple[float, float, float]


HISTOLOGY = ColourTarget(mean=(57.4, 39.9, -22.34), deviation=(15.84, 9.14, 6.58))  # H&E tissue in colon cancer images


def separate_stains(images: Images) -> Images:
    """Compute the amounts of haematoxylin, eosin and residual in each pixel.

    >>> pixel = torch.tensor([[[[0.0, 128.0, 255.0]]]])
    >>> combine_stains(separate_stains(pixel)).round().abs().flatten().tolist()
    [0.0, 128.0, 255.0]
    """
    density = -((images + 1) / 256).log()
    return density @ torch.linalg.inv(_make_matrix(STAINS, images))


def combine_stains(stains: Images) -> Images:
    """Compute an image from amounts of stains; the inverse of ``separate_stains``."""
    return (-(stains @ _make_matrix(STAINS, stains))).exp() * 256 - 1


def scale_stains(images: Images, factors: Float[Tensor, "n 2"]) -> Images:
    """Multiply haematoxylin and eosin by two factors per image, and clip the result to the range 0 to 255."""
    ones = torch.ones_like(factors[:, :1])
    return combine_stains(separate_stains(images) * torch.cat([factors, ones], dim=1)[:, None, None]).clamp(0, 255)


def convert_to_lab(images: Images) -> Images:
    """Convert sRGB images to CIE Lab: lightness from 0 to 100, a from green to red, b from blue to yellow.

    >>> convert_to_lab(torch.full((1, 1, 1, 3), 255.0)).round().abs().flatten().tolist()
    [100.0, 0.0, 0.0]
    """
    values = images / 255
    linear = torch.where(values > 0.04045, ((values.clamp(min=0) + 0.055) / 1.055) ** 2.4, values / 12.92)
    ratios = linear @ _make_matrix(XYZ, images).T / images.new_tensor(WHITE_POINT)
    limit = LINEAR_LIMIT
    compressed = torch.where(ratios > limit**3, ratios.clamp(min=limit**3) ** (1 / 3), ratios / (3 * limit**2) + 4 / 29)
    x, y, z = compressed.unbind(-1)
    return torch.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], dim=-1)


def convert_from_lab(lab: Images) -> Images:
    """Convert CIE Lab to sRGB; the inverse of ``convert_to_lab``. Colours outside sRGB are not clipped to 0 to 255."""
    lightness, a, b = lab.unbind(-1)
    y = (lightness + 16) / 116
    compressed = torch.stack([y + a / 500, y, y - b / 200], dim=-1)
    ratios = torch.where(compressed > LINEAR_LIMIT, compressed**3, (compressed - 4 / 29) * 3 * LINEAR_LIMIT**2)
    linear = ratios * lab.new_tensor(WHITE_POINT) @ torch.linalg.inv(_make_matrix(XYZ, lab)).T
    curved = 1.055 * linear.clamp(min=0.0031308) ** (1 / 2.4) - 0.055
    return torch.where(linear > 0.0031308, curved, linear * 12.92) * 255


def normalize_colour(images: Images, target: ColourTarget = HISTOLOGY, white: float = WHITE) -> Images:
    """Normalise the Lab colours of each image to the mean and standard deviation of the target (Reinhard et al. 2001).

    Pixels with a grey value above ``white`` are background: they are excluded from the statistics and not changed. A
    channel that is constant within an image is shifted, but not scaled.
    """
    lab = convert_to_lab(images)
    tissue = (images @ images.new_tensor(LUMA.tolist()) <= white).unsqueeze(-1)
    count = tissue.sum(dim=(1, 2), keepdim=True).clamp(min=1)
    mean = (lab * tissue).sum(dim=(1, 2), keepdim=True) / count
    deviation = (((lab - mean) * tissue) ** 2).sum(dim=(1, 2), keepdim=True).div(count).sqrt()
    scale = torch.where(deviation > 1e-3, lab.new_tensor(target.deviation) / deviation.clamp(min=1e-3), 1.0)
    normalized = convert_from_lab((lab - mean) * scale + lab.new_tensor(target.mean))
    return torch.where(tissue, normalized.clamp(0, 255), images)


def _make_matrix(rows: tuple[tuple[float, ...], ...], like: Tensor) -> Tensor:
    return torch.tensor(rows, dtype=like.dtype, device=like.device)
