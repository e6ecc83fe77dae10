"""Base class of augmentations, which randomly transform image instances in training mode.

Random numbers are a function of (seed, step, layer, use, row), as in ``bagwise.nn.dropout``. Therefore a resumed run,
or a run that processes a bag in pieces, computes the same augmented images.
"""

import numpy as np
import torch
from jaxtyping import Float, Shaped
from torch import Tensor

from bagwise.nn.dropout import RandomModule
from bagwise.nn.random_streams import Purpose

Images = Shaped[Tensor, "n height width *channels"]


class Augmentation(RandomModule):
    """Base class of augmentations.

    Random numbers are counter-based when bagwise trains the model. Otherwise torch's global generator is used.
    """

    def sample_uniform(self, rows: int, columns: int) -> Float[np.ndarray, "rows columns"]:
        """Sample uniform random numbers above 0 and below 1.

        Parameters
        ----------
        rows : int
            Number of instances.
        columns : int
            Number of random numbers per instance.

        Returns
        -------
        ndarray of shape (rows, columns)
            Random numbers; one row per instance.
        """
        if self.position is None:
            bits = torch.randint(0, 1 << 32, (rows, columns)).numpy()
        else:
            bits = self.sample_bits(self.position, Purpose.AUGMENTATION, rows, columns)
        return (bits + 0.5) / (1 << 32)


def as_float_images(instances: Tensor) -> Tensor:
    """Convert images to float32 without changing their values; floats are returned as they are."""
    return instances if instances.is_floating_point() else instances.float()


def gaussian_from_uniform(uniform: Float[np.ndarray, "n 2"]) -> Float[np.ndarray, "n 2"]:
    """Convert pairs of uniform numbers to pairs of independent standard Gaussian numbers (Box & Muller 1958)."""
    radius, angle = np.sqrt(-2 * np.log(uniform[:, 0])), 2 * np.pi * uniform[:, 1]
    return radius[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
