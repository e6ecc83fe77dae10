"""The engine of torch over several processes: each computes its share of a step's bags, and gradients are summed.

    ∇ = Σ_ranks ∇ ( Σ_{own bags} loss ) / n        n: all bags of the step

This is what averaging the ranks' means gives once each mean is scaled by world size over n, as for
DistributedDataParallel; taken as a sum, a rank without a bag simply adds nothing. Losses, errors and gradients go
through one collective a step. All ranks hold the same weights, so each takes the same step.
"""

import math

import numpy as np
import torch
from torch import Tensor

from bagwise import randomness
from bagwise.places import Place, seat
from bagwise.training.batches import tensor
from bagwise.training.engines.contract import Diverged, Problem, Sums
from bagwise.training.engines.torch_engine import TorchEngine
from bagwise.training.ranks import Ranks, deal

NONE = -1  # no bag


class DistributedEngine(TorchEngine):
    """One forward and one backward pass a step and process, over the bags that were dealt to it."""

    def __init__(self, problem: Problem, ranks: Ranks) -> None:
        super().__init__(problem)
        self.ranks = ranks

    def _step(self, number: int, chosen: np.ndarray, step: int) -> Sums:
        own = self._own(chosen, step)
        for parameter in self.parameters:
            parameter.grad = None
        found, unlearnable = (Sums(0.0, 0.0), NONE) if not len(own) else self._learn(own, len(chosen), step)
        total = self._exchange(found)
        if not math.isfinite(total.loss):
            raise Diverged(number, self._named(unlearnable))
        self.problem.optimizer.step()
        return total

    def _own(self, chosen: np.ndarray, step: int) -> np.ndarray:
        """The bags of this process; draws are by their rows among those of all, so no two processes draw the same."""
        most = self.problem.most_instances
        sizes = self.problem.task.bags.sizes[chosen]
        rows = sizes if most is None else np.minimum(sizes, most)
        hands = deal(rows, self.ranks.size)
        before = int(sum(rows[hand].sum() for hand in hands[: self.ranks.number]))
        seat(self.drawing, Place(self.problem.seed, step, before))
        foreign = self.foreign_seed + step * self.ranks.size + self.ranks.number
        torch.default_generator.manual_seed(foreign % randomness.LIMIT)
        return chosen[hands[self.ranks.number]]

    def _learn(self, own: np.ndarray, n_bags: int, step: int) -> tuple[Sums, int]:
        """The gradient of the own bags' part of the loss; the first bag whose loss is not finite, if there is one."""
        _, likelihood, task, _, _, device, *_ = self.problem
        targets = tensor(task.targets[own]).to(device)
        scores = self._scores(own, step)
        losses = likelihood.loss(scores, targets)
        loss = (losses * tensor(task.importance[own]).to(device)).sum()
        (loss / n_bags).backward()
        wrong = ~np.isfinite(losses.detach().cpu().numpy())
        unlearnable = int(own[int(wrong.argmax())]) if wrong.any() else NONE
        return Sums(loss.item(), likelihood.errors(scores.detach(), targets).sum().item()), unlearnable

    def _exchange(self, found: Sums) -> Sums:
        """Gradients, losses and errors, summed over all processes; what no process has a gradient for has none."""
        gradients = [parameter.grad for parameter in self.parameters]
        there = torch.tensor([gradient is not None for gradient in gradients], device=self.problem.device)
        flat = [
            torch.zeros_like(parameter) if gradient is None else gradient
            for parameter, gradient in zip(self.parameters, gradients, strict=True)
        ]
        sums = torch.tensor(found, dtype=self.parameters[0].dtype, device=self.problem.device)
        parts = [*(part.reshape(-1) for part in flat), there.to(sums.dtype), sums]
        shared = self.ranks.summed(torch.cat([part.to(sums.dtype) for part in parts]))
        self._take_back(shared)
        return Sums(*shared[-len(sums) :].tolist())

    def _take_back(self, shared: Tensor) -> None:
        start, marks = 0, sum(parameter.numel() for parameter in self.parameters)
        for number, parameter in enumerate(self.parameters):
            end = start + parameter.numel()
            summed = torch.empty_like(parameter).copy_(shared[start:end].view_as(parameter))  # in the weights' layout
            parameter.grad = summed if shared[marks + number] > 0 else None
            start = end

    def _named(self, unlearnable: int) -> int:
        """The same bag in all processes: the greatest number that any of them found."""
        found = torch.zeros(self.ranks.size, dtype=torch.int64)
        found[self.ranks.number] = unlearnable + 1
        return int(self.ranks.summed(found).max().item()) - 1
