"""Interface of engines, which perform optimizer steps on batches of bags and return their loss.

The training loop handles epochs, the order of bags, validation and checkpoints. An engine changes only the parameters
of the model and the state of the optimizer, and its random numbers are functions of the seed and the step. Therefore a
run can be stopped between two calls and resumed later with bit-identical results.
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
        Likelihood, which defines the loss and the errors of scores.
    task : TrainingTask
        Training bags and targets.
    optimizer : torch.optim.Optimizer
        Optimizer of the parameters of the model.
    seed : int
        Seed of all random numbers.
    device : torch.device
        Device on which the model is trained.
    memory : float, default=inf
        Memory for the instances of a step, in bytes.
    most_instances : int or None, default=None
        Maximum number of instances per bag in a step; larger bags are subsampled. None for no limit.
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
    """Sums over the bags of one or more batches, computed in training mode.

    Attributes
    ----------
    loss : float
        Sum of the losses, weighted by the importance of the bags.
    errors : float
        Number of misclassified bags.
    """

    loss: float
    errors: float


class DivergedError(Exception):
    """Exception raised when the loss of a bag is not finite.

    Parameters
    ----------
    batch : int
        Index of the batch within the call of ``Engine.run``.
    bag : int
        Index of the bag in the task.
    """

    def __init__(self, batch: int, bag: int) -> None:
        super().__init__(batch, bag)
        self.batch = batch
        self.bag = bag


class Engine(ABC):
    """Abstract base class of engines; an engine is built from a ``TrainingProblem``.

    Attributes
    ----------
    name : str
        Name of the engine.
    stride : int
        Approximate number of bags per call of ``run``. Training can be stopped between calls.
    """

    name: str
    stride: int

    @abstractmethod
    def run(self, batches: Sequence[np.ndarray], first_step: int, learning_rate: float) -> BatchSums:
        """Perform one optimizer step per batch.

        Parameters
        ----------
        batches : sequence of ndarray of int
            Indices of the bags of each batch.
        first_step : int
            Number of the first step, counted from the start of training.
        learning_rate : float
            Learning rate of all steps.

        Returns
        -------
        BatchSums
            Loss and errors, summed over all bags of the batches.

        Raises
        ------
        DivergedError
            If the loss of a bag is not finite.
        """
