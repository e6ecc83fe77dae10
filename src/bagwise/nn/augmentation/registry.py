"""Augmentations by name, and the shape of augmented instances.

affine      small random rotations, scalings, shears and shifts, for images on a black background such as MNIST
histology   stain strength, quarter turns, mirroring, for H&E patches
nucleus     a randomly shifted crop around the centre, then histology
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from bagwise.arguments import choose_by_name, describe_value
from bagwise.errors import InputError
from bagwise.nn.augmentation.geometry import AffineAugmentation, ShiftedCrop
from bagwise.nn.augmentation.histology import HistologyAugmentation

MIN_SIDE = 16  # pixels; "auto" does not augment smaller images, for which a shift by two pixels is large


def build_nucleus_augmentation() -> nn.Sequential:
    """Build a shifted crop, then histology, for patches of one nucleus stored with a margin around 27 pixels."""
    return nn.Sequential(ShiftedCrop(), HistologyAugmentation())


AUGMENTATIONS: dict[str, Callable[[], nn.Module]] = {
    "histology": HistologyAugmentation,
    "nucleus": build_nucleus_augmentation,
    "affine": AffineAugmentation,
}


def build_augmentation(augmentation: Any, instance_shape: tuple[int, ...]) -> nn.Module | None:
    """Return a given module, or build the augmentation of that name with its defaults.

    Parameters
    ----------
    augmentation : str, nn.Module or None
        Name, "auto" (chosen by the shape of the instances), module, or None for no augmentation.
    instance_shape : tuple of int
        Shape of one stored instance.

    Returns
    -------
    nn.Module or None
    """
    if augmentation is None or isinstance(augmentation, nn.Module):
        return augmentation
    if not isinstance(augmentation, str):
        raise InputError(f"augmentation must be a name, a torch.nn.Module or None, got {describe_value(augmentation)}")
    builders = {
        "auto": lambda: build_augmentation(choose_augmentation(instance_shape), instance_shape),
        **AUGMENTATIONS,
    }
    return choose_by_name(augmentation, builders, "augmentation")()


def choose_augmentation(instance_shape: tuple[int, ...]) -> str | None:
    """Choose the augmentation for "auto"; None for vectors and for images that are too small.

    >>> [choose_augmentation(shape) for shape in [(28, 28), (27, 27, 3), (8, 8), (166,)]]
    ['affine', 'histology', None, None]
    """
    if len(instance_shape) < 2 or min(instance_shape[:2]) < MIN_SIDE:
        return None
    return {2: "affine", 3: "histology" if instance_shape[-1] == 3 else None}[len(instance_shape)]


def get_augmented_shape(augmentation: nn.Module, instance_shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape of augmented instances.

    Parameters
    ----------
    augmentation : nn.Module
        Any augmentation.
    instance_shape : tuple of int
        Shape of one stored instance.

    Returns
    -------
    tuple of int

    Raises
    ------
    InputError
        If the augmentation cannot be applied to these instances.

    Examples
    --------
    >>> get_augmented_shape(build_nucleus_augmentation(), (39, 39, 3))
    (27, 27, 3)
    """
    modes = {part: part.training for part in augmentation.modules()}
    augmentation.eval()
    try:
        with torch.no_grad():
            return tuple(augmentation(torch.zeros(1, *instance_shape)).shape[1:])
    except RuntimeError as error:
        raise InputError(
            f"the augmentation cannot be applied to instances of shape {instance_shape}: {error}"
        ) from None
    finally:
        for part, mode in modes.items():
            part.training = mode
