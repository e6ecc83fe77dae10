"""Augmentation of stored images in training: stains, turns and mirrors for histology, affine for grey images, crops.

The modules stand before the standardisation and take instances as bags store them, channels last.
"""

from bagwise.augmentation.affine import AffineAugmentation
from bagwise.augmentation.building import AUGMENTATIONS, augmented_shape, build_augmentation
from bagwise.augmentation.contract import Augmentation
from bagwise.augmentation.crop import ShiftedCrop
from bagwise.augmentation.histology import HistologyAugmentation

__all__ = [
    "AUGMENTATIONS",
    "AffineAugmentation",
    "Augmentation",
    "HistologyAugmentation",
    "ShiftedCrop",
    "augmented_shape",
    "build_augmentation",
]
