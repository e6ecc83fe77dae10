"""Base class of the augmentations, which change image instances in training mode.

Random numbers are a function of (seed, layer, step, row), as in ``bagwise.nn.dropout``. A resumed run, or a bag that is
read in pieces, therefore gets the same augmented images.
"""

import numpy as np
import torch
from jaxtyping import Float, Shaped
from torch import Tensor

from bagwise.nn.dropout import RandomModule
from bagwise.nn.random_streams import Purpose

Images = Shaped[Tensor, "n height width *channels"]


class Augmentation(RandomModule):
    """Base class of the augmentations; outside a run, random numbers come from torch's global generator."""

    def draw(self, rows: int, columns: int) -> Float[np.ndarray, "rows columns"]:
        """Sample uniform numbers above 0 and below 1, one row per instance.

        Parameters
        ----------
        rows : int
            Number of instances.
        columns : int
            Numbers per instance.

        Returns
        -------
        ndarray of shape (rows, columns)
        """
        if self.position is None:
            bits = torch.randint(0, 1 << 32, (rows, columns)).numpy()
        else:
            bits = self.sample_bits(self.position, Purpose.AUGMENTATION, rows, columns)
        return (bits + 0.5) / (1 << 32)


def as_float_images(instances: Tensor) -> Tensor:
    """Convert bytes to floats of the same values."""
    return instances if instances.is_floating_point() else instances.float()


def gaussian_from_uniform(uniform: Float[np.ndarray, "n 2"]) -> Float[np.ndarray, "n 2"]:
    """Convert pairs of uniform numbers to pairs of independent standard Gaussian numbers (Box & Muller 1958)."""
    radius, angle = np.sqrt(-2 * np.log(uniform[:, 0])), 2 * np.pi * uniform[:, 1]
    return radius[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
