"""Conversion of stored instances to encoder input: scaled floats, and images with channels first.

    x ↦ (clip(x, low, high) − center) / scale        per feature or per channel

The statistics are computed from the training instances only and are stored with the model, so users do not have to
scale their data. Low and high are the smallest and the largest training value: a feature that is nearly constant
in training has a tiny standard deviation, so without clipping an ordinary test value could be thousands of deviations
away.
"""

import math
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Shaped
from torch import Tensor, nn

from bagwise.arguments import choose_by_name
from bagwise.bags import Bags
from bagwise.errors import InputError

ROWS_AT_ONCE = 1 << 14  # rows per block of the statistics
VALUES_AT_ONCE = 1 << 26  # values per block, for large images
FEATURES_AT_ONCE = 128  # features of a block that are converted to float64 at once: 16 MB
CHANNELS = (1, 2, 3, 4)  # supported numbers of channels
SCALINGS = ("clipped", "standard", "none")
NEGLIGIBLE = 1e-7  # a feature is constant if its standard deviation relative to its mean is at most this


class Scaling(NamedTuple):
    """Centre, scale and range of stored instances, with one value per feature or channel.

    Attributes
    ----------
    center : ndarray
        Value that is subtracted from the instances.
    scale : ndarray
        Value by which the centred instances are divided.
    low, high : ndarray or None, default=None
        Range to which the instances are clipped before; None for no clipping.
    """

    center: np.ndarray
    scale: np.ndarray
    low: np.ndarray | None = None
    high: np.ndarray | None = None

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
        rows = (instances if self.low is None else np.clip(instances, self.low, self.high)) - self.center
        rows /= self.scale  # in place, to avoid a second copy
        return rows.reshape(len(instances), -1)


class Preprocessing(nn.Module):
    """Clipping and scaling per feature or channel; images are converted to (channels, height, width).

    Parameters
    ----------
    instance_shape : tuple of int
        Shape of one stored instance.
    scaling : Scaling
        Centre, scale and range, for example from ``fit_scaling``.
    """

    center: Tensor
    scale: Tensor
    low: Tensor
    high: Tensor

    def __init__(self, instance_shape: tuple[int, ...], scaling: Scaling) -> None:
        super().__init__()
        self.instance_shape = tuple(instance_shape)
        broadcast = (-1,) if len(instance_shape) == 1 else (-1, 1, 1)
        self.clips = scaling.low is not None
        for name, values in scaling._asdict().items():
            if values is not None:
                self.register_buffer(name, torch.as_tensor(values, dtype=torch.float32).reshape(broadcast))

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
        if self.clips:
            values = values.clamp(self.low, self.high)
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


def fit_scaling(bags: Bags, scaling: str) -> Scaling:
    """Compute the centre, the scale and the range of the instances of bags.

    Parameters
    ----------
    bags : Bags
        Training bags. They are read in blocks, once, so they may be memory-mapped and larger than the memory.
    scaling : {"clipped", "standard", "none"}
        "standard" scales to mean 0 and standard deviation 1; constant features are only centred. "clipped" also clips
        feature vectors to the range of these bags; images are not clipped. "none" keeps floats unchanged and scales
        bytes to the range 0 to 1.

    Returns
    -------
    Scaling
        Centre, scale and range per feature or channel.

    Raises
    ------
    InputError
        If the scaling is unknown, or the instances are neither vectors nor images, or have their channels first.
    """
    kind = choose_by_name(scaling, {name: name for name in SCALINGS}, "scaling")
    if kind == "none":
        return _make_identity(bags.instance_shape, bags.dtype)
    return _fit_standardization(bags, clips=kind == "clipped" and len(bags.instance_shape) == 1)


def _make_identity(instance_shape: tuple[int, ...], dtype: np.dtype) -> Scaling:
    """Return a scaling that keeps floats unchanged and maps bytes to the range 0 to 1."""
    size = get_encoder_shape(instance_shape)[0]
    return Scaling(center=np.zeros(size), scale=np.full(size, 255.0 if dtype == np.uint8 else 1.0))


def _fit_standardization(bags: Bags, clips: bool) -> Scaling:
    n_channels = get_encoder_shape(bags.instance_shape)[0]  # also validates the shape
    total_count, center, squares = 0, np.zeros(n_channels), np.zeros(n_channels)
    low, high = np.full(n_channels, np.inf), np.full(n_channels, -np.inf)
    rows_at_once = max(1, min(ROWS_AT_ONCE, VALUES_AT_ONCE // math.prod(bags.instance_shape)))
    for block in bags.iterate_blocks(rows_at_once):
        count = block.size // n_channels
        means, variances = _compute_moments(block)
        difference = means - center  # numerically stable update (Chan, Golub & LeVeque 1979)
        squares += variances * count + difference**2 * total_count * count / (total_count + count)
        center, total_count = center + difference * count / (total_count + count), total_count + count
        if clips:
            low, high = np.minimum(low, block.min(axis=0)), np.maximum(high, block.max(axis=0))
    deviation = np.sqrt(squares / total_count)
    constant = deviation <= NEGLIGIBLE * np.abs(center)
    scale = np.where(constant, 1.0, deviation)
    return Scaling(center, scale, low, high) if clips else Scaling(center, scale)


def _compute_moments(block: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Compute the mean and variance of each channel, or of some features at a time, to convert less at once."""
    if block.ndim > 2:
        values = block.astype(np.float64)
        return values.mean(axis=(0, 1, 2)).reshape(-1), values.var(axis=(0, 1, 2)).reshape(-1)
    parts = np.array_split(block, math.ceil(block.shape[1] / FEATURES_AT_ONCE), axis=1)
    moments = [(part.mean(axis=0), part.var(axis=0)) for part in (np.array(part, dtype=np.float64) for part in parts)]
    means, variances = zip(*moments, strict=True)
    return np.concatenate(means), np.concatenate(variances)
