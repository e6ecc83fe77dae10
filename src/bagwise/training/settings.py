"""Settings of training, stored in every checkpoint so that a run cannot be resumed with different settings."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

from torch import nn, optim

from bagwise.arguments import canonicalize_name, check_real_number, check_whole_number, choose_by_name
from bagwise.errors import InputError
from bagwise.training.devices import PRECISIONS

SCHEDULES: dict[str, Callable[[float], float]] = {  # share of completed epochs → factor on the learning rate
    "constant": lambda done: 1.0,
    "linear": lambda done: 1.0 - done,
    "cosine": lambda done: 0.5 * (1.0 + math.cos(math.pi * done)),
}


@dataclass(frozen=True)
class TrainingSettings:
    """Settings of training: those in the tables of the paper's appendix, and a few more.

    Parameters
    ----------
    epochs : int, default=100
        Number of epochs.
    batch_size : int, default=1
        Number of bags per step.
    optimizer : {"adam", "sgd", "nesterov"}, default="adam"
        Name of the optimizer; case, hyphens and underscores are ignored.
    learning_rate : float, default=5e-4
        Learning rate of the first epoch.
    weight_decay : float, default=1e-4
        Factor of the L2 penalty.
    momentum : float, default=0.9
        Momentum of "sgd" and "nesterov".
    schedule : {"constant", "linear", "cosine"}, default="constant"
        Decay of the learning rate over the epochs.
    patience : int or None, default=None
        Stop after this many epochs without improvement on the validation bags; None means never.
    averaging : float, default=0.0
        Share of the epochs, counted from the last, whose weights are averaged.
    most_instances : int or None, default=None
        Maximum number of instances of a bag in a step; None means all.
    precision : {"full", "mixed"}, default="full"
        Precision of the encoder in training.
    seed : int, default=0
        Seed of all random numbers.
    """

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
            "epochs": check_whole_number("epochs", self.epochs, minimum=1),
            "batch_size": check_whole_number("batch_size", self.batch_size, minimum=1),
            "learning_rate": check_real_number("learning_rate", self.learning_rate, above=0),
            "weight_decay": check_real_number("weight_decay", self.weight_decay, minimum=0),
            "momentum": check_real_number("momentum", self.momentum, minimum=0, below=1),
            "patience": None if self.patience is None else check_whole_number("patience", self.patience, minimum=1),
            "averaging": check_real_number("averaging", self.averaging, minimum=0, below=1),
            "most_instances": None
            if self.most_instances is None
            else check_whole_number("most_instances", self.most_instances, minimum=1),
            "precision": choose_by_name(self.precision, {name: name for name in PRECISIONS}, "precision"),
            "seed": check_whole_number("seed", self.seed, minimum=0),
        }
        for name, value in checked.items():  # plain Python numbers, which a checkpoint can store
            object.__setattr__(self, name, value)
        choose_by_name(self.optimizer, OPTIMIZERS, "optimizer")
        if canonicalize_name(self.optimizer) == "nesterov" and self.momentum == 0:
            raise InputError("optimizer='nesterov' needs momentum > 0, got 0; set momentum or use optimizer='sgd'")
        choose_by_name(self.schedule, SCHEDULES, "schedule")

    def learning_rate_at(self, epoch: int) -> float:
        """Return the learning rate of an epoch; it depends on the epoch only, so a resume needs no further state.

        Parameters
        ----------
        epoch : int
            Number of the epoch, from 0.

        Returns
        -------
        float
            Learning rate.
        """
        return self.learning_rate * choose_by_name(self.schedule, SCHEDULES, "schedule")(epoch / self.epochs)

    def count_averaged_epochs(self, completed_epochs: int) -> int:
        """Count the completed epochs whose weights are part of the average.

        Parameters
        ----------
        completed_epochs : int
            Number of completed epochs.

        Returns
        -------
        int
            Number of averaged epochs; 0 if averaging has not started.
        """
        first = self.epochs - math.ceil(self.averaging * self.epochs)
        return max(0, completed_epochs - first)

    def build_optimizer(self, parameters: Iterable[nn.Parameter]) -> optim.Optimizer:
        """Build Adam with the default betas, or SGD with momentum; weight decay is an L2 penalty, as in the paper.

        Parameters
        ----------
        parameters : iterable of nn.Parameter
            Parameters to optimise.

        Returns
        -------
        torch.optim.Optimizer
            The optimizer.
        """
        return choose_by_name(self.optimizer, OPTIMIZERS, "optimizer")(parameters, self)


def _build_adam(parameters: Iterable[nn.Parameter], settings: TrainingSettings) -> optim.Optimizer:
    return optim.Adam(parameters, lr=settings.learning_rate, weight_decay=settings.weight_decay, fused=True)


def _build_sgd(
    parameters: Iterable[nn.Parameter], settings: TrainingSettings, nesterov: bool = False
) -> optim.Optimizer:
    return optim.SGD(
        parameters,
        lr=settings.learning_rate,
        momentum=settings.momentum,
        weight_decay=settings.weight_decay,
        nesterov=nesterov,
        fused=True,
    )


OPTIMIZERS: dict[str, Callable[[Iterable[nn.Parameter], TrainingSettings], optim.Optimizer]] = {
    "adam": _build_adam,
    "sgd": _build_sgd,
    "nesterov": partial(_build_sgd, nesterov=True),
}
