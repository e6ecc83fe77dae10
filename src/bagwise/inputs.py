"""Stored instances → what an encoder reads: floats, images with channels first, standardised.

The statistics are learned from the training instances and travel with the model, so nothing is scaled by data that
the model was not trained on, and nobody scales twice.
"""

from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Shaped
from torch import Tensor, nn

from bagwise.errors import InputError

ROWS_AT_ONCE = 1 << 14
CHANNELS = (1, 2, 3, 4)
NEGLIGIBLE = 1e-7  # a feature that varies less than this, relative to its size, counts as constant


class Scaling(NamedTuple):
    """What is subtracted from stored instances, and what they are divided by: one number a feature or channel."""

    center: np.ndarray
    scale: np.ndarray

    def rows(self, instances: np.ndarray) -> np.ndarray:
        """Scaled instances as (n_instances, width) of float64, images laid flat."""
        return ((instances - self.center) / self.scale).reshape(len(instances), -1)


class Prepare(nn.Module):
    """(x − center) / scale, per feature or per channel; images become (channels, height, width)."""

    center: Tensor
    scale: Tensor

    def __init__(self, instance_shape: tuple[int, ...], scaling: Scaling) -> None:
        super().__init__()
        self.instance_shape = tuple(instance_shape)
        broadcast = (-1,) if len(instance_shape) == 1 else (-1, 1, 1)
        self.register_buffer("center", torch.as_tensor(scaling.center, dtype=torch.float32).reshape(broadcast))
        self.register_buffer("scale", torch.as_tensor(scaling.scale, dtype=torch.float32).reshape(broadcast))

    def forward(self, instances: Shaped[Tensor, "instances ..."]) -> Float[Tensor, "instances ..."]:
        values = instances.to(torch.promote_types(instances.dtype, self.center.dtype))
        if values.ndim == 3:
            values = values.unsqueeze(1)
        elif values.ndim == 4:
            values = values.movedim(-1, 1)
        return (values - self.center).div_(self.scale).to(self.center.dtype)  # one copy of the instances, not two

    def extra_repr(self) -> str:
        return f"instance_shape={self.instance_shape}"


def encoder_shape(instance_shape: tuple[int, ...]) -> tuple[int, ...]:
    """The shape an encoder sees: (features,) or (channels, height, width).

    >>> encoder_shape((28, 28)), encoder_shape((27, 27, 3)), encoder_shape((166,))
    ((1, 28, 28), (3, 27, 27), (166,))
    """
    if len(instance_shape) == 1:
        return instance_shape
    if len(instance_shape) == 2:
        return (1, *instance_shape)
    if len(instance_shape) == 3 and instance_shape[-1] in CHANNELS:
        return (instance_shape[2], instance_shape[0], instance_shape[1])
    if len(instance_shape) == 3 and instance_shape[0] in CHANNELS:
        raise InputError(
            f"instances of shape {instance_shape} have their channels first; store images as "
            "(height, width, channels), e.g. np.moveaxis(images, 1, -1)"
        )
    raise InputError(
        f"instances of shape {instance_shape} are neither vectors nor images; "
        "give (features,), (height, width) or (height, width, channels)"
    )


def scaling(instances: np.ndarray, standardize: bool) -> Scaling:
    """Mean 0 and standard deviation 1 over these instances, or numbers as they are and bytes as 0 … 1."""
    return _standardizing(instances) if standardize else _identity(instances.shape[1:], instances.dtype)


def _identity(instance_shape: tuple[int, ...], dtype: np.dtype) -> Scaling:
    statistics = encoder_shape(instance_shape)[0]
    return Scaling(np.zeros(statistics), np.full(statistics, 255.0 if dtype == np.uint8 else 1.0))


def _standardizing(instances: np.ndarray) -> Scaling:
    """The statistics, read in pieces; what does not vary is only centred."""
    shape = encoder_shape(instances.shape[1:])  # refuses what is neither vector nor image
    image_axes = {2: (0, 1, 2), 3: (0, 1, 2)}.get(instances.ndim - 1, (0,))
    count, center, squares = 0, np.zeros(shape[0]), np.zeros(shape[0])
    for start in range(0, len(instances), ROWS_AT_ONCE):
        piece = np.asarray(instances[start : start + ROWS_AT_ONCE], dtype=np.float64)
        number = piece.size // shape[0]
        mean = piece.mean(axis=image_axes)
        offset = mean - center  # pooled in the numerically safe way (Chan, Golub & LeVeque 1979)
        squares += piece.var(axis=image_axes) * number + offset**2 * count * number / (count + number)
        center, count = center + offset * number / (count + number), count + number
    deviation = np.sqrt(squares / count)
    constant = deviation <= NEGLIGIBLE * np.abs(center)
    return Scaling(center, np.where(constant, 1.0, deviation))
