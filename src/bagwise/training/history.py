"""Training history: one record per epoch, and the best epoch.

The best epoch has the lowest validation error + loss, as in the paper; of equal epochs, it is the first.
"""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from torch import Tensor


@dataclass(frozen=True)
class Epoch:
    """Record of one epoch.

    Attributes
    ----------
    epoch : int
        Number of the epoch, from 1.
    loss, error : float
        Mean loss and mean error of the training bags, in training mode.
    validation_loss, validation_error : float or None
        Mean loss and mean error of the validation bags, in evaluation mode; None without validation bags.
    learning_rate : float
        Learning rate of the epoch.
    seconds : float
        Duration of the epoch, in seconds.
    """

    epoch: int
    loss: float
    error: float
    validation_loss: float | None
    validation_error: float | None
    learning_rate: float
    seconds: float

    @property
    def criterion(self) -> float | None:
        """Validation error + loss; None without validation bags."""
        if self.validation_loss is None or self.validation_error is None:
            return None
        return self.validation_loss + self.validation_error

    def as_dict(self) -> dict[str, Any]:
        """Return the fields as a dictionary of JSON values."""
        return asdict(self)


def average_histories(histories: Sequence[list[Epoch]]) -> list[Epoch]:
    """Average the records of several trainings of the same number of epochs; their durations are added.

    Parameters
    ----------
    histories : sequence of list of Epoch
        The records of each training.

    Returns
    -------
    list of Epoch
        One record per epoch.
    """
    if len(histories) == 1:
        return histories[0]
    return [_average_records(records) for records in zip(*histories, strict=True)]


def _average_records(records: Sequence[Epoch]) -> Epoch:
    def average(name: str) -> Any:
        values = [getattr(record, name) for record in records]
        return None if None in values else sum(values) / len(values)

    names = ("loss", "error", "validation_loss", "validation_error")
    return replace(
        records[0], **{name: average(name) for name in names}, seconds=sum(record.seconds for record in records)
    )


@dataclass(frozen=True)
class Best:
    """Number, criterion and weights of the best epoch so far."""

    epoch: int
    criterion: float
    weights: dict[str, Tensor]


def is_improvement(record: Epoch, best: Best | None) -> bool:
    """Return whether an epoch has a lower validation error + loss than the best one so far."""
    return record.criterion is not None and record.criterion < (math.inf if best is None else best.criterion)


def is_patience_exhausted(record: Epoch, best: Best | None, patience: int | None) -> bool:
    """Return whether there was no improvement in the last ``patience`` epochs."""
    return patience is not None and best is not None and record.epoch - best.epoch >= patience
