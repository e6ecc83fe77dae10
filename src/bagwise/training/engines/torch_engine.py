"""The torch engine: autograd on packed batches, for all models and devices."""

import math
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from bagwise.nn import SEED_LIMIT, Purpose, StreamPosition, list_random_modules, random_integer, set_module_positions
from bagwise.training.batches import array_to_tensor, sample_instances
from bagwise.training.devices import use_half_precision
from bagwise.training.engines.base import BatchSums, DivergedError, Engine, TrainingProblem
from bagwise.training.streaming.memory import MemoryBudget


class TorchEngine(Engine):
    """Engine that performs one forward and one backward pass of torch per step.

    Parameters
    ----------
    problem : TrainingProblem
        Model, data and optimizer.
    """

    name = "torch"
    stride = 1

    def __init__(self, problem: TrainingProblem) -> None:
        self.problem = problem
        self.model = (
            use_half_precision(problem.model, problem.device) if problem.precision == "mixed" else problem.model
        )
        self.budget = MemoryBudget(problem.memory)
        self._check_largest_bag()
        self.parameters = list(problem.model.parameters())
        self.random_modules = list_random_modules(problem.model)
        self.torch_seed = random_integer(problem.seed, Purpose.TORCH)

    def run(self, batches: Sequence[np.ndarray], first_step: int, learning_rate: float) -> BatchSums:
        for group in self.problem.optimizer.param_groups:
            group["lr"] = learning_rate
        parts = []
        for number, chosen in enumerate(batches):
            self._set_random_state(first_step + number)
            parts.append(self._step(number, chosen, first_step + number))
        return BatchSums(loss=sum(part.loss for part in parts), errors=sum(part.errors for part in parts))

    def _check_largest_bag(self) -> None:
        """Reject a bag that cannot be trained on before the first step, in all processes of a run alike."""
        bags = self.problem.task.bags
        if self.problem.most_instances is None:
            self.budget.check_whole_bags(self.model, bags, np.array([bags.sizes.argmax()]), self.problem.device)

    def _set_random_state(self, step: int) -> None:
        """Set the position of the random modules, and seed the generators of torch for third-party modules."""
        set_module_positions(self.random_modules, StreamPosition(self.problem.seed, step))
        self._seed_generators(self.torch_seed + step)

    def _seed_generators(self, seed: int) -> None:
        torch.default_generator.manual_seed(seed % SEED_LIMIT)
        if self.problem.device.type == "cuda":
            torch.cuda.manual_seed(seed % SEED_LIMIT)

    def _step(self, number: int, chosen: np.ndarray, step: int) -> BatchSums:
        task, likelihood, device = self.problem.task, self.problem.likelihood, self.problem.device
        targets = array_to_tensor(task.targets[chosen]).to(device)
        importance = array_to_tensor(task.importance[chosen]).to(device)
        scores = self._compute_scores(chosen, step)
        losses = likelihood.loss(scores, targets)
        loss = (losses * importance).mean()
        value = loss.item()
        if not math.isfinite(value):
            diverged = int(np.argmax(~np.isfinite(losses.detach().cpu().numpy())))
            raise DivergedError(batch=number, bag=int(chosen[diverged]))
        for parameter in self.parameters:
            parameter.grad = None  # faster than zero_grad
        loss.backward()
        self.problem.optimizer.step()
        return BatchSums(loss=value * len(chosen), errors=likelihood.errors(scores.detach(), targets).sum().item())

    def _compute_scores(self, chosen: np.ndarray, step: int) -> Tensor:
        bags, max_instances = self.problem.task.bags, self.problem.most_instances
        if max_instances is not None:
            bags = sample_instances(bags, chosen, max_instances, self.problem.seed, step)
            chosen = np.arange(len(bags))
        return self.budget.scores(self.model, bags, chosen, self.problem.device)
