"""How a model is trained, as plain numbers: stored with every checkpoint, so that a resume cannot mix two runs."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from torch import nn, optim

from bagwise.errors import InputError
from bagwise.names import choose

SCHEDULES: dict[str, Callable[[float], float]] = {
    "constant": lambda done: 1.0,
    "linear": lambda done: 1.0 - done,
    "cosine": lambda done: 0.5 * (1.0 + math.cos(math.pi * done)),
}
OPTIMIZERS = {"adam": "adam", "sgd": "sgd"}


@dataclass(frozen=True)
class TrainingSettings:
    """Numbers of the appendix's optimisation tables, and what they leave open."""

    epochs: int = 100
    batch_size: int = 1
    optimizer: str = "adam"
    learning_rate: float = 5e-4
    weight_decay: float = 1e-4
    momentum: float = 0.9
    schedule: str = "constant"
    patience: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        for name, least in (("epochs", 1), ("batch_size", 1), ("patience", 1)):
            value = getattr(self, name)
            if value is not None and value < least:
                raise InputError(f"{name} is {value}; it must be at least {least}")
        for name, open_low in (("learning_rate", True), ("weight_decay", False), ("momentum", False)):
            value = getattr(self, name)
            if not math.isfinite(value) or value < 0 or (open_low and value == 0):
                raise InputError(f"{name} is {value}; it must be {'above' if open_low else 'at least'} 0")
        if self.momentum >= 1:
            raise InputError(f"momentum is {self.momentum}; it must be below 1")
        choose(self.optimizer, OPTIMIZERS, "optimizer")
        choose(self.schedule, SCHEDULES, "schedule")

    def learning_rate_at(self, epoch: int) -> float:
        """The learning rate of an epoch, counted from 0: a function of the epoch alone, so a resume needs no state."""
        return self.learning_rate * choose(self.schedule, SCHEDULES, "schedule")(epoch / self.epochs)

    def build_optimizer(self, parameters: Iterable[nn.Parameter]) -> optim.Optimizer:
        """Adam with the default betas, or SGD with momentum; weight decay is the l2 penalty, as in the paper."""
        if choose(self.optimizer, OPTIMIZERS, "optimizer") == "adam":
            return optim.Adam(parameters, lr=self.learning_rate, weight_decay=self.weight_decay, fused=True)
        return optim.SGD(
            parameters, lr=self.learning_rate, momentum=self.momentum, weight_decay=self.weight_decay, fused=True
        )
