"""The torch engine in several processes: each process computes the gradients of some bags, which are then summed.

    ∇ = Σ_ranks ∇ ( Σ_{own bags} loss ) / n        n: number of all bags of the step

This equals the average over ranks in DistributedDataParallel if each rank multiplies its loss by the number of ranks
and divides it by n. With a sum, ranks without bags contribute zero. Losses, errors and gradients are exchanged in one
collective operation per step. All ranks have the same weights and perform the same step.
"""

import math

import numpy as np
import torch
from torch import Tensor

from bagwise.nn import StreamPosition, set_module_positions
from bagwise.parallel import Ranks, assign_bags
from bagwise.training.batches import array_to_tensor
from bagwise.training.engines.base import BatchSums, DivergedError, TrainingProblem
from bagwise.training.engines.torch_engine import TorchEngine

NO_BAG = -1


class DistributedEngine(TorchEngine):
    """Torch engine in which each process computes the gradients of the bags assigned to it.

    Parameters
    ----------
    problem : TrainingProblem
        Model, data and optimizer.
    ranks : Ranks
        Number of this process, and total number of processes.
    """

    def __init__(self, problem: TrainingProblem, ranks: Ranks) -> None:
        super().__init__(problem)
        self.ranks = ranks

    def _step(self, number: int, chosen: np.ndarray, step: int) -> BatchSums:
        own = self._select_own_bags(chosen, step)
        for parameter in self.parameters:
            parameter.grad = None
        own_sums, diverged = BatchSums(loss=0.0, errors=0.0), NO_BAG
        if len(own):
            own_sums, diverged = self._compute_gradients(own, len(chosen), step)
        total = self._exchange(own_sums)
        if not math.isfinite(total.loss):
            raise DivergedError(batch=number, bag=self._agree_on_bag(diverged))
        self.problem.optimizer.step()
        return total

    def _select_own_bags(self, chosen: np.ndarray, step: int) -> np.ndarray:
        """Return the bags of this process, and set the random state.

        Random numbers depend on the position of a row among the rows of all processes, so every process samples
        different numbers.
        """
        max_instances = self.problem.most_instances
        sizes = self.problem.task.bags.sizes[chosen]
        rows = sizes if max_instances is None else np.minimum(sizes, max_instances)
        assignments = assign_bags(rows, self.ranks.size)
        first_row = int(sum(rows[assigned].sum() for assigned in assignments[: self.ranks.number]))
        set_module_positions(self.random_modules, StreamPosition(self.problem.seed, step, first_row))
        self._seed_generators(self.torch_seed + step * self.ranks.size + self.ranks.number)
        return chosen[assignments[self.ranks.number]]

    def _compute_gradients(self, own: np.ndarray, n_bags: int, step: int) -> tuple[BatchSums, int]:
        """Compute the gradients of the own bags; return their sums, and the first diverged bag or ``NO_BAG``."""
        task, likelihood, device = self.problem.task, self.problem.likelihood, self.problem.device
        targets = array_to_tensor(task.targets[own]).to(device)
        scores = self._compute_scores(own, step)
        losses = likelihood.loss(scores, targets)
        loss = (losses * array_to_tensor(task.importance[own]).to(device)).sum()
        (loss / n_bags).backward()
        is_diverged = ~np.isfinite(losses.detach().cpu().numpy())
        diverged = int(own[int(is_diverged.argmax())]) if is_diverged.any() else NO_BAG
        sums = BatchSums(loss=loss.item(), errors=likelihood.errors(scores.detach(), targets).sum().item())
        return sums, diverged

    def _exchange(self, own_sums: BatchSums) -> BatchSums:
        """Sum gradients, losses and errors over all processes.

        The gradient of a parameter remains None if it is None in all processes.
        """
        gradients = [parameter.grad for parameter in self.parameters]
        has_gradient = torch.tensor([gradient is not None for gradient in gradients], device=self.problem.device)
        filled = [
            torch.zeros_like(parameter) if gradient is None else gradient
            for parameter, gradient in zip(self.parameters, gradients, strict=True)
        ]
        sums = torch.tensor(own_sums, dtype=self.parameters[0].dtype, device=self.problem.device)
        parts = [*(part.reshape(-1) for part in filled), has_gradient.to(sums.dtype), sums]
        summed = self.ranks.sum_over_processes(torch.cat([part.to(sums.dtype) for part in parts]))
        self._set_gradients(summed)
        loss, errors = summed[-len(sums) :].tolist()
        return BatchSums(loss=loss, errors=errors)

    def _set_gradients(self, summed: Tensor) -> None:
        """Split the summed vector into the gradients of the parameters."""
        start, first_flag = 0, sum(parameter.numel() for parameter in self.parameters)
        for number, parameter in enumerate(self.parameters):
            end = start + parameter.numel()
            gradient = torch.empty_like(parameter).copy_(summed[start:end].view_as(parameter))  # same memory layout
            parameter.grad = gradient if summed[first_flag + number] > 0 else None
            start = end

    def _agree_on_bag(self, diverged: int) -> int:
        """Return the same diverged bag in all processes: the one with the largest index."""
        found = torch.zeros(self.ranks.size, dtype=torch.int64)
        found[self.ranks.number] = diverged + 1
        return int(self.ranks.sum_over_processes(found).max().item()) - 1
