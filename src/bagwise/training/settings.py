"""How a model is trained, as plain numbers: stored with every checkpoint, so that a resume cannot mix two runs."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

from torch import nn, optim

from bagwise.errors import InputError
from bagwise.names import canonical, choose
from bagwise.quantities import real_number, whole_number
from bagwise.training.precision import PRECISIONS

SCHEDULES: dict[str, Callable[[float], float]] = {
    "constant": lambda done: 1.0,
    "linear": lambda done: 1.0 - done,
    "cosine": lambda done: 0.5 * (1.0 + math.cos(math.pi * done)),
}


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
    averaging: float = 0.0
    most_instances: int | None = None
    precision: str = "full"
    seed: int = 0

    def __post_init__(self) -> None:
        checked: dict[str, Any] = {
            "epochs": whole_number("epochs", self.epochs, least=1),
            "batch_size": whole_number("batch_size", self.batch_size, least=1),
            "learning_rate": real_number("learning_rate", self.learning_rate, above=0),
            "weight_decay": real_number("weight_decay", self.weight_decay, least=0),
            "momentum": real_number("momentum", self.momentum, least=0, below=1),
            "patience": None if self.patience is None else whole_number("patience", self.patience, least=1),
            "averaging": real_number("averaging", self.averaging, least=0, below=1),
            "most_instances": None
            if self.most_instances is None
            else whole_number("most_instances", self.most_instances, least=1),
            "precision": choose(self.precision, {name: name for name in PRECISIONS}, "precision"),
            "seed": whole_number("seed", self.seed, least=0),
        }
        for name, value in checked.items():  # plain numbers from now on, which a checkpoint can hold
            object.__setattr__(self, name, value)
        choose(self.optimizer, OPTIMIZERS, "optimizer")
        if canonical(self.optimizer) == "nesterov" and self.momentum == 0:
            raise InputError("momentum is 0, and nesterov looks ahead along it; give one above 0, or optimizer='sgd'")
        choose(self.schedule, SCHEDULES, "schedule")

    def learning_rate_at(self, epoch: int) -> float:
        """The learning rate of an epoch, counted from 0: a function of the epoch alone, so a resume needs no state."""
        return self.learning_rate * choose(self.schedule, SCHEDULES, "schedule")(epoch / self.epochs)

    def averaged(self, epoch: int) -> int:
        """How many epochs take part in the averaged weights once so many are done: the last share of all."""
        first = self.epochs - math.ceil(self.averaging * self.epochs)
        return max(0, epoch - first)

    def build_optimizer(self, parameters: Iterable[nn.Parameter]) -> optim.Optimizer:
        """Adam with the default betas, or SGD with momentum; weight decay is the l2 penalty, as in the paper."""
        return choose(self.optimizer, OPTIMIZERS, "optimizer")(parameters, self)


def _adam(parameters: Iterable[nn.Parameter], settings: TrainingSettings) -> optim.Optimizer:
    return optim.Adam(parameters, lr=settings.learning_rate, weight_decay=settings.weight_decay, fused=True)


def _sgd(parameters: Iterable[nn.Parameter], settings: TrainingSettings, nesterov: bool = False) -> optim.Optimizer:
    return optim.SGD(
        parameters,
        lr=settings.learning_rate,
        momentum=settings.momentum,
        weight_decay=settings.weight_decay,
        nesterov=nesterov,
        fused=True,
    )


OPTIMIZERS: dict[str, Callable[[Iterable[nn.Parameter], TrainingSettings], optim.Optimizer]] = {
    "adam": _adam,
    "sgd": _sgd,
    "nesterov": partial(_sgd, nesterov=True),
}
