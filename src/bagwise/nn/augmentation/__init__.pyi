__all__ = [
    "AUGMENTATIONS",
    "AffineAugmentation",
    "Augmentation",
    "HistologyAugmentation",
    "ShiftedCrop",
    "build_augmentation",
    "choose_augmentation",
    "get_augmented_shape",
]

from .base import Augmentation
from .geometry import AffineAugmentation, ShiftedCrop
from .histology import HistologyAugmentation
from .registry import AUGMENTATIONS, build_augmentation, choose_augmentation, get_augmented_shape
