"""Conversion of stored instances to encoder input: standardised floats, and images with channels first.

    x ↦ (x − center) / scale        per feature or per channel

The statistics are computed from the training instances only and are stored with the model, so users do not have to
scale their data.
"""

from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Shaped
from torch import Tensor, nn

from bagwise.errors import InputError

ROWS_AT_ONCE = 1 << 14
CHANNELS = (1, 2, 3, 4)  # supported numbers of channels
NEGLIGIBLE = 1e-7  # a feature is constant if its standard deviation relative to its mean is at most this


class Scaling(NamedTuple):
    """Centre and scale of stored instances, with one value per feature or channel.

    Attributes
    ----------
    center : ndarray
        Value that is subtracted from the instances.
    scale : ndarray
        Value by which the centred instances are divided.
    """

    center: np.ndarray
    scale: np.ndarray

    def rows(self, instances: np.ndarray) -> np.ndarray:
        """Scale instances and flatten each of them to a row.

        Parameters
        ----------
        instances : ndarray of shape (n_instances, …)
            Stored instances.

        Returns
        -------
        ndarray of shape (n_instances, width)
            Scaled rows, in float64.
        """
        return ((instances - self.center) / self.scale).reshape(len(instances), -1)


class Preprocessing(nn.Module):
    """Standardisation (x − center) / scale per feature or channel; images are converted to (channels, height, width).

    Parameters
    ----------
    instance_shape : tuple of int
        Shape of one stored instance.
    scaling : Scaling
        Centre and scale, for example from ``fit_scaling``.
    """

    center: Tensor
    scale: Tensor

    def __init__(self, instance_shape: tuple[int, ...], scaling: Scaling) -> None:
        super().__init__()
        self.instance_shape = tuple(instance_shape)
        broadcast = (-1,) if len(instance_shape) == 1 else (-1, 1, 1)
        self.register_buffer("center", torch.as_tensor(scaling.center, dtype=torch.float32).reshape(broadcast))
        self.register_buffer("scale", torch.as_tensor(scaling.scale, dtype=torch.float32).reshape(broadcast))

    def forward(self, instances: Shaped[Tensor, "instances ..."]) -> Float[Tensor, "instances ..."]:
        """Convert instances to encoder input.

        Parameters
        ----------
        instances : Tensor of shape (instances, …)
            Stored instances of any dtype.

        Returns
        -------
        Tensor of shape (instances, …)
            Encoder input; see ``get_encoder_shape``.
        """
        values = instances.to(torch.promote_types(instances.dtype, self.center.dtype))
        if values.ndim == 3:
            values = values.unsqueeze(1)
        elif values.ndim == 4:
            values = values.movedim(-1, 1)
        return (values - self.center).div_(self.scale).to(self.center.dtype)  # in place, to avoid a second copy

    def extra_repr(self) -> str:
        return f"instance_shape={self.instance_shape}"


def get_encoder_shape(instance_shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape of one instance as the encoder receives it.

    Parameters
    ----------
    instance_shape : tuple of int
        Shape of one stored instance: (features,), (height, width) or (height, width, channels).

    Returns
    -------
    tuple of int
        (features,) or (channels, height, width).

    Raises
    ------
    InputError
        If the instances are neither vectors nor images, or have their channels first.

    Examples
    --------
    >>> get_encoder_shape((28, 28)), get_encoder_shape((27, 27, 3)), get_encoder_shape((166,))
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
        "their shape must be (features,), (height, width) or (height, width, channels)"
    )


def fit_scaling(instances: np.ndarray, standardize: bool) -> Scaling:
    """Compute the centre and scale of instances.

    Parameters
    ----------
    instances : ndarray of shape (n_instances, …)
        Training instances. They are read in pieces, so the array may be memory-mapped.
    standardize : bool
        If True, scale to mean 0 and standard deviation 1; constant features are only centred. If False, keep floats
        unchanged and scale bytes to the range 0 to 1.

    Returns
    -------
    Scaling
        Centre and scale per feature or channel.

    Raises
    ------
    InputError
        If the instances are neither vectors nor images, or have their channels first.
    """
    return _fit_standardization(instances) if standardize else _make_identity(instances.shape[1:], instances.dtype)


def _make_identity(instance_shape: tuple[int, ...], dtype: np.dtype) -> Scaling:
    """Return a scaling that keeps floats unchanged and maps bytes to the range 0 to 1."""
    size = get_encoder_shape(instance_shape)[0]
    return Scaling(center=np.zeros(size), scale=np.full(size, 255.0 if dtype == np.uint8 else 1.0))


def _fit_standardization(instances: np.ndarray) -> Scaling:
    shape = get_encoder_shape(instances.shape[1:])  # also validates the shape
    axes = {2: (0, 1, 2), 3: (0, 1, 2)}.get(instances.ndim - 1, (0,))
    total_count, center, squares = 0, np.zeros(shape[0]), np.zeros(shape[0])
    for start in range(0, len(instances), ROWS_AT_ONCE):
        piece = np.asarray(instances[start : start + ROWS_AT_ONCE], dtype=np.float64)
        count = piece.size // shape[0]
        difference = piece.mean(axis=axes) - center  # numerically stable update (Chan, Golub & LeVeque 1979)
        squares += piece.var(axis=axes) * count + difference**2 * total_count * count / (total_count + count)
        center, total_count = center + difference * count / (total_count + count), total_count + count
    deviation = np.sqrt(squares / total_count)
    constant = deviation <= NEGLIGIBLE * np.abs(center)
    return Scaling(center=center, scale=np.where(constant, 1.0, deviation))
