"""Augmentations by name, and what becomes of the instances' shape."""

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from bagwise.augmentation.affine import AffineAugmentation
from bagwise.augmentation.crop import ShiftedCrop
from bagwise.augmentation.histology import HistologyAugmentation
from bagwise.errors import InputError
from bagwise.names import choose

SMALLEST = 16  # pixels, of images that bear to be moved by two


def nucleus() -> nn.Sequential:
    """For patches stored with a margin around 27 pixels, a nucleus each: its mark moved, then as histology."""
    return nn.Sequential(ShiftedCrop(), HistologyAugmentation())


AUGMENTATIONS: dict[str, Callable[[], nn.Module]] = {
    "histology": HistologyAugmentation,
    "nucleus": nucleus,
    "affine": AffineAugmentation,
}


def fitting(instance_shape: tuple[int, ...]) -> str | None:
    """The augmentation that "auto" stands for; vectors and images too small to be moved have none.

    >>> fitting((28, 28)), fitting((27, 27, 3)), fitting((8, 8)), fitting((166,))
    ('affine', 'histology', None, None)
    """
    if len(instance_shape) < 2 or min(instance_shape[:2]) < SMALLEST:
        return None
    return {2: "affine", 3: "histology" if instance_shape[-1] == 3 else None}[len(instance_shape)]


def build_augmentation(augmentation: Any, instance_shape: tuple[int, ...]) -> nn.Module | None:
    """The module itself, or the one of that name with its defaults; "auto" takes what fits the instances."""
    if augmentation is None or isinstance(augmentation, nn.Module):
        return augmentation
    if not isinstance(augmentation, str):
        raise InputError(f"augmentation is a {type(augmentation).__name__}; give a name or a module")
    builds = {"auto": lambda: build_augmentation(fitting(instance_shape), instance_shape), **AUGMENTATIONS}
    return choose(augmentation, builds, "augmentation")()


def augmented_shape(augmentation: nn.Module, instance_shape: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of instances behind an augmentation; refused here if it cannot take them.

    >>> augmented_shape(nucleus(), (39, 39, 3))
    (27, 27, 3)
    """
    modes = {part: part.training for part in augmentation.modules()}
    augmentation.eval()
    try:
        with torch.no_grad():
            return tuple(augmentation(torch.zeros(1, *instance_shape)).shape[1:])
    except RuntimeError as error:
        raise InputError(f"the augmentation cannot take instances of shape {instance_shape}: {error}") from None
    finally:
        for part, mode in modes.items():
            part.training = mode
