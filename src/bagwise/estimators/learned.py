"""What a classical method has learned: arrays and numbers alone, so that it can be stored without a pickle.

A method's ``_learn`` gives a frozen dataclass derived from ``Learned``; scores and shares are pure functions of its
fields, so a method that was saved and loaded predicts the same bits.
"""

from abc import ABC, abstractmethod
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar, get_type_hints

import numpy as np
import torch
from torch import Tensor

from bagwise.bags import Bags

Part = TypeVar("Part")


class Learned(ABC):
    """Base of what methods learn. Fields are arrays, numbers, or dataclasses of these; bags hold scaled flat rows."""

    @abstractmethod
    def scores(self, bags: Bags) -> np.ndarray:
        """(n_bags, n_scores), as the likelihood wants them: one for two classes, else one a class."""

    @abstractmethod
    def shares(self, bags: Bags) -> np.ndarray:
        """(n_instances,): how much each instance counted; not negative, sums to one within a bag."""


class LearnedInstances(Learned):
    """Base of what methods learn that score instances one by one."""

    @abstractmethod
    def instance_scores(self, bags: Bags) -> np.ndarray:
        """(n_instances, n_scores): the score of each instance alone."""


def numbers_of(part: Any, prefix: str = "") -> dict[str, Tensor]:
    """The fields of a dataclass as named tensors, those of a part of it after the part's name and a dot."""
    numbers: dict[str, Tensor] = {}
    for field in fields(part):
        value, name = getattr(part, field.name), prefix + field.name
        if is_dataclass(value):
            numbers |= numbers_of(value, f"{name}.")
        else:
            numbers[name] = torch.from_numpy(np.array(value))
    return numbers


def from_numbers(kind: type[Part], numbers: dict[str, Tensor], prefix: str = "") -> Part:
    """The inverse of ``numbers_of``."""
    hints = get_type_hints(kind)
    values: dict[str, Any] = {}
    for field in fields(kind):  # type: ignore[arg-type]
        hint, name = hints[field.name], prefix + field.name
        if is_dataclass(hint):
            values[field.name] = from_numbers(hint, numbers, f"{name}.")  # type: ignore[arg-type]
        else:
            array = numbers[name].numpy()
            values[field.name] = hint(array) if hint in (int, float, bool) else array
    return kind(**values)
