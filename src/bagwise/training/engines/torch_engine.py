"""The engine of torch: autograd, one packed batch a call, for every model and every device."""

import math
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from bagwise import randomness
from bagwise.places import Place, drawing, seat
from bagwise.randomness import Purpose
from bagwise.training.batches import tensor
from bagwise.training.engines.contract import Diverged, Engine, Problem, Sums
from bagwise.training.precision import halve
from bagwise.training.sampling import draw_instances
from bagwise.training.streaming import Budget


class TorchEngine(Engine):
    """One forward and one backward pass a step."""

    name = "torch"
    stride = 1

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.model = halve(problem.model, problem.device) if problem.precision == "mixed" else problem.model
        self.budget = Budget(problem.memory)
        self.parameters = list(problem.model.parameters())
        self.drawing = drawing(problem.model)
        self.foreign_seed = randomness.integer(problem.seed, Purpose.FOREIGN)

    def run(self, batches: Sequence[np.ndarray], first_step: int, learning_rate: float) -> Sums:
        for group in self.problem.optimizer.param_groups:
            group["lr"] = learning_rate
        parts = []
        for number, chosen in enumerate(batches):
            self._seat(first_step + number)
            parts.append(self._step(number, chosen, first_step + number))
        return Sums(sum(part.loss for part in parts), sum(part.errors for part in parts))

    def _seat(self, step: int) -> None:
        """Tell every source of randomness where the run stands: our dropout, and torch's, for modules of others."""
        seat(self.drawing, Place(self.problem.seed, step))
        seed = (self.foreign_seed + step) % randomness.LIMIT
        torch.default_generator.manual_seed(seed)
        if self.problem.device.type == "cuda":
            torch.cuda.manual_seed(seed)

    def _scores(self, chosen: np.ndarray, step: int) -> Tensor:
        bags, most = self.problem.task.bags, self.problem.most_instances
        if most is not None:
            bags = draw_instances(bags, chosen, most, self.problem.seed, step)
            chosen = np.arange(len(bags))
        return self.budget.scores(self.model, bags, chosen, self.problem.device)

    def _step(self, number: int, chosen: np.ndarray, step: int) -> Sums:
        """One forward and one backward pass over a packed batch."""
        _, likelihood, task, optimizer, _, device, *_ = self.problem
        targets = tensor(task.targets[chosen]).to(device)
        importance = tensor(task.importance[chosen]).to(device)
        scores = self._scores(chosen, step)
        losses = likelihood.loss(scores, targets)
        loss = (losses * importance).mean()
        value = loss.item()
        if not math.isfinite(value):
            raise Diverged(number, int(chosen[int(np.argmax(~np.isfinite(losses.detach().cpu().numpy())))]))
        for parameter in self.parameters:
            parameter.grad = None  # what zero_grad does, without its bookkeeping
        loss.backward()
        optimizer.step()
        return Sums(value * len(chosen), likelihood.errors(scores.detach(), targets).sum().item())
