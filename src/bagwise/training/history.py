"""What training remembers: a record an epoch, and which epoch was best.

The paper's criterion is the lowest validation error + loss; of equal epochs the first is kept.
"""

import math
from dataclasses import asdict, dataclass
from typing import Any

from torch import Tensor


@dataclass(frozen=True)
class Epoch:
    """One epoch; loss and error are means over bags, in training mode for the training bags."""

    epoch: int
    loss: float
    error: float
    validation_loss: float | None
    validation_error: float | None
    learning_rate: float
    seconds: float

    @property
    def criterion(self) -> float | None:
        """Validation error + loss, or None without validation bags."""
        if self.validation_loss is None or self.validation_error is None:
            return None
        return self.validation_loss + self.validation_error

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Best:
    """The weights of the best epoch so far."""

    epoch: int
    criterion: float
    weights: dict[str, Tensor]


def improves(record: Epoch, best: Best | None) -> bool:
    """Whether an epoch is the best so far by validation error + loss."""
    return record.criterion is not None and record.criterion < (math.inf if best is None else best.criterion)


def exhausted(record: Epoch, best: Best | None, patience: int | None) -> bool:
    """Whether the best epoch lies ``patience`` epochs back."""
    return patience is not None and best is not None and record.epoch - best.epoch >= patience
