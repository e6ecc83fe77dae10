"""What augmentations share: draws that are a function of (seed, layer, step, row), as in ``dropout``.

A resumed run, or a bag read in pieces, therefore sees the same patches.
"""

import numpy as np
import torch
from jaxtyping import Float, Shaped
from torch import Tensor

from bagwise import randomness
from bagwise.places import Placed
from bagwise.randomness import Purpose

Pictures = Shaped[Tensor, "n height width *channels"]


class Augmentation(Placed):
    """Draws from where the run stands; outside a run it draws from torch's global generator."""

    def draw(self, rows: int, columns: int) -> Float[np.ndarray, "rows columns"]:
        """Uniform numbers above 0 and below 1, a row an instance."""
        if self.place is None:
            drawn = torch.randint(0, 1 << 32, (rows, columns)).numpy()
        else:
            seed, step, first_row = self.place
            place = (self.layer, step, self.count_use())
            drawn = randomness.bits(seed, Purpose.AUGMENTATION, place, first_row, (rows, columns))
        return (drawn + 0.5) / (1 << 32)


def gaussian(uniform: Float[np.ndarray, "n 2"]) -> Float[np.ndarray, "n 2"]:
    """Two independent standard Gaussian numbers from two uniform ones (Box & Muller 1958)."""
    radius, angle = np.sqrt(-2 * np.log(uniform[:, 0])), 2 * np.pi * uniform[:, 1]
    return radius[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)


def floats(instances: Tensor) -> Tensor:
    """Numbers that can be computed with: bytes become floats of the same values."""
    return instances if instances.is_floating_point() else instances.float()
