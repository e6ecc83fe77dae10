"""The fused engine: the same model, parameters and draws as torch's, with many steps in one compiled call.

The weights are the torch module's and the moments the torch optimiser's: after every call they are written back, so
checkpoints, validation and saving see no difference between engines.
"""

import math
from collections.abc import Sequence

import numpy as np
from torch import nn, optim

from bagwise.augmentation import augmented_shape
from bagwise.inputs import encoder_shape
from bagwise.training.engines.contract import Diverged, Engine, Problem, Sums
from bagwise.training.fused.layout import Layout
from bagwise.training.fused.lessons import Drawn, Prepared
from bagwise.training.fused.plan import Room, room
from bagwise.training.fused.reach import take_apart
from bagwise.training.fused.rules import ADAM, NESTEROV, SGD, Rule
from bagwise.training.fused.sharing import Shared
from bagwise.training.fused.steps import steps

ROWS_A_CALL = 2048  # tens of milliseconds, or hundreds with convolutions, after which a run may be stopped


class FusedEngine(Engine):
    """Steps by compiled kernels, on the CPU."""

    name = "fused"

    def __init__(self, problem: Problem) -> None:
        model, bags, self.optimizer = problem.model, problem.task.bags, problem.optimizer
        parts = take_apart(model, problem.likelihood)
        draws = parts.augmentations or problem.most_instances is not None
        self.source = Drawn(problem, parts) if draws else Prepared(problem, parts)
        shape = augmented_shape(nn.Sequential(*parts.augmentations), bags.instance_shape)
        shape = shape if parts.prepare is None else encoder_shape(shape)
        self.n_numbers = math.prod(shape)
        self.layout = Layout(parts, model, problem.likelihood, shape)
        self.shared = Shared(self.layout.slots, self.layout.size, self.optimizer)
        self.seed = np.uint64(problem.seed % (1 << 64))
        sizes = np.minimum(bags.sizes, problem.most_instances or bags.n_instances)
        self.stride = max(1, ROWS_A_CALL * len(sizes) // int(sizes.sum()))
        self.room = self._room(1, 1)

    def run(self, batches: Sequence[np.ndarray], first_step: int, learning_rate: float) -> Sums:
        edges = np.cumsum([0, *map(len, batches)])
        lessons, order = self.source.read(batches, first_step)
        self._make_room(np.diff(lessons.offsets)[order], edges)
        rule = rule_of(self.optimizer, learning_rate)
        plan, flat = self.layout.plan, self.shared.flat
        place = (self.seed, first_step, self.shared.done)
        loss, errors, batch, bag = steps(plan, rule, flat, lessons, self.room, order, edges, *place)
        if batch >= 0:
            own = order[edges[batch] : edges[batch + 1]]
            raise Diverged(batch, int(batches[batch][np.flatnonzero(own == bag)[0]]))
        self.shared.store(len(batches))
        return Sums(float(loss), float(errors))

    def _make_room(self, sizes: np.ndarray, edges: np.ndarray) -> None:
        """Room for the largest of the batches, by the sizes of all their bags."""
        n_rows = int(np.add.reduceat(sizes, edges[:-1]).max())
        n_bags = int(np.diff(edges).max())
        if n_rows > len(self.room.rows) or n_bags >= len(self.room.edges):
            self.room = self._room(n_rows, n_bags)

    def _room(self, n_rows: int, n_bags: int) -> Room:
        return room(self.layout.plan, self.n_numbers, n_rows, n_bags, self.layout.size, self.shared.flat.weights.dtype)


def rule_of(optimizer: optim.Optimizer, learning_rate: float) -> Rule:
    """An optimiser of ``settings`` as plain numbers."""
    group = optimizer.param_groups[0]
    if isinstance(optimizer, optim.Adam):
        momentum, second = group["betas"]
        return Rule(ADAM, learning_rate, momentum, second, group["eps"], float(group["weight_decay"]))
    kind = NESTEROV if group["nesterov"] else SGD
    return Rule(kind, learning_rate, float(group["momentum"]), 0.0, 0.0, float(group["weight_decay"]))
