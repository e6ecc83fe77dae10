"""Registry of augmentations, and the shape of augmented instances.

affine      small random rotations, scalings, shears and shifts, for images on a black background such as MNIST
histology   random stain strength, rotation and mirroring, for H&E patches
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

MIN_SIDE = 16  # pixels; "auto" does not augment smaller images, because a shift of two pixels would be large


def build_nucleus_augmentation() -> nn.Sequential:
    """Build a shifted crop followed by histology, for patches of one nucleus stored with a margin around 27 pixels."""
    return nn.Sequential(ShiftedCrop(), HistologyAugmentation())


AUGMENTATIONS: dict[str, Callable[[], nn.Module]] = {
    "histology": HistologyAugmentation,
    "nucleus": build_nucleus_augmentation,
    "affine": AffineAugmentation,
}


def build_augmentation(augmentation: Any, instance_shape: tuple[int, ...]) -> nn.Module | None:
    """Build an augmentation by name, with its default parameters.

    Parameters
    ----------
    augmentation : str, nn.Module or None
        Name of an augmentation, or "auto" (chosen by the shape of the instances). A module is returned as it is. None
        means no augmentation.
    instance_shape : tuple of int
        Shape of one stored instance.

    Returns
    -------
    nn.Module or None
        Augmentation; None for no augmentation.

    Raises
    ------
    InputError
        If the name is unknown, or if ``augmentation`` is neither a name, a module nor None.
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
    """Choose the augmentation for "auto".

    Parameters
    ----------
    instance_shape : tuple of int
        Shape of one stored instance.

    Returns
    -------
    str or None
        "affine" for grey images and "histology" for images with three channels. None for vectors, for other numbers of
        channels and for images smaller than 16 × 16 pixels.

    Examples
    --------
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
        Shape of one augmented instance.

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
