"""The interface of every engine: it performs optimizer steps on batches of bags and returns their loss.

The training loop handles epochs, order, validation and checkpoints; an engine handles none of them. It changes only the
parameters of the model and the state of the optimizer, and every random number is a function of the seed and the step.
Therefore the loop can stop between two calls and resume later with the same bits.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import nn, optim

from bagwise.targets import Likelihood
from bagwise.training.batches import TrainingTask


@dataclass(frozen=True, kw_only=True)
class TrainingProblem:
    """A model to train in place, its data and its optimizer.

    Parameters
    ----------
    model : nn.Module
        Model to train.
    likelihood : Likelihood
        Loss and errors of scores.
    task : TrainingTask
        Training bags and targets.
    optimizer : torch.optim.Optimizer
        Optimizer of the parameters of the model.
    seed : int
        Seed of all random numbers.
    device : torch.device
        Device of the computation.
    memory : float, default=inf
        Bytes that a step may use for its instances.
    most_instances : int, optional
        Largest number of instances of a bag in a step. By default all.
    precision : {"full", "mixed"}, default="full"
        Precision of the encoder.
    """

    model: nn.Module
    likelihood: Likelihood
    task: TrainingTask
    optimizer: optim.Optimizer
    seed: int
    device: torch.device
    memory: float = math.inf
    most_instances: int | None = None
    precision: str = "full"


class BatchSums(NamedTuple):
    """Sums over the bags of some batches, in training mode.

    Attributes
    ----------
    loss : float
        Sum of the losses.
    errors : float
        Number of misclassified bags.
    """

    loss: float
    errors: float


class DivergedError(Exception):
    """The loss of a bag is not finite.

    Parameters
    ----------
    batch : int
        Number of the batch within the call of the engine.
    bag : int
        Number of the bag in the task.
    """

    def __init__(self, batch: int, bag: int) -> None:
        super().__init__(batch, bag)
        self.batch = batch
        self.bag = bag


class Engine(ABC):
    """Abstract base class of the engines; each is built from a ``TrainingProblem``.

    Attributes
    ----------
    name : str
        Name of the engine.
    stride : int
        Approximate number of bags per call of ``run``; a run can be stopped between calls.
    """

    name: str
    stride: int

    @abstractmethod
    def run(self, batches: Sequence[np.ndarray], first_step: int, learning_rate: float) -> BatchSums:
        """Perform one optimizer step per batch.

        Parameters
        ----------
        batches : sequence of ndarray of int
            Numbers of the bags of each batch.
        first_step : int
            Number of the first step in the run.
        learning_rate : float
            Learning rate of all steps.

        Returns
        -------
        BatchSums

        Raises
        ------
        DivergedError
            If the loss of a bag is not finite.
        """
