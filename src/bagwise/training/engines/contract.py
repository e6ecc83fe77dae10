"""What every engine promises: it steps through batches of bags, and says what the bags cost on the way.

The loop above it knows epochs, order, validation and checkpoints; an engine knows none of them. Everything it changes
lies in the model's parameters and in the optimiser's state, and every draw is a function of the seed and the step, so
the loop may stop between two calls and go on later, to the same bits.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import nn, optim

from bagwise.likelihoods import Likelihood
from bagwise.training.tasks import Task


class Problem(NamedTuple):
    """What is to be trained: a model in place, by an optimiser of its parameters."""

    model: nn.Module
    likelihood: Likelihood
    task: Task
    optimizer: optim.Optimizer
    seed: int
    device: torch.device
    memory: float = math.inf  # bytes that a step may hold of its instances
    most_instances: int | None = None  # of a bag in a step
    precision: str = "full"


class Sums(NamedTuple):
    """Over the bags of some batches, in training mode."""

    loss: float
    errors: float


class Diverged(Exception):  # noqa: N818 (the loop tells the user)
    """The loss of a bag is not finite."""

    def __init__(self, batch: int, bag: int) -> None:
        super().__init__(batch, bag)
        self.batch = batch  # counted from the first of the call
        self.bag = bag  # its number in the task


class Engine(ABC):
    """Base of the engines; each is built from a ``Problem``."""

    name: str
    stride: int  # about how many bags one call should be given; the run may be stopped between calls

    @abstractmethod
    def run(self, batches: Sequence[np.ndarray], first_step: int, learning_rate: float) -> Sums:
        """One step of the optimiser for each batch, which is an array of numbers of bags."""
