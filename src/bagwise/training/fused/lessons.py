"""The training bags as the kernels read them: flat rows of numbers, prepared as the model would at every step.

Flat as torch flattens them; for convolution the channels of a pixel lie side by side. Where nothing about the bags is
drawn they are prepared once; else for every call, with the draws that torch's engine would make.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from bagwise.bags import Bags
from bagwise.bags.arrays import offsets_of
from bagwise.places import Place, drawing, seat
from bagwise.training.batches import tensor
from bagwise.training.engines.contract import Problem
from bagwise.training.fused.plan import Lessons
from bagwise.training.fused.reach import Parts
from bagwise.training.sampling import draw_instances

ROWS_AT_ONCE = 4096


class Source(ABC):
    """Where the rows of a batch come from."""

    def __init__(self, problem: Problem, parts: Parts) -> None:
        self.task, self.parts = problem.task, parts
        self.dtype = next(problem.model.parameters()).dtype

    @abstractmethod
    def read(self, batches: Sequence[np.ndarray], first_step: int) -> tuple[Lessons, np.ndarray]:
        """Lessons, and the numbers that the bags of the batches have in them, one after the other."""

    def _lessons(self, instances: Tensor, offsets: np.ndarray, bags: np.ndarray | slice) -> Lessons:
        rows = instances.numpy()
        targets, importance = self.task.targets[bags], self.task.importance[bags]
        return Lessons(rows, offsets.astype(np.int64), targets.astype(np.int64), importance.astype(rows.dtype))

    def _flat(self, instances: Tensor) -> Tensor:
        with torch.no_grad():
            prepared = instances if self.parts.prepare is None else self.parts.prepare(instances)
            return (prepared.movedim(1, -1) if self.parts.stages else prepared).flatten(1).to(self.dtype)


class Prepared(Source):
    """All bags as they are, prepared once."""

    def __init__(self, problem: Problem, parts: Parts) -> None:
        super().__init__(problem, parts)
        bags = self.task.bags
        rows = torch.empty((bags.n_instances, int(np.prod(bags.instance_shape))), dtype=self.dtype)
        for start in range(0, bags.n_instances, ROWS_AT_ONCE):
            part = slice(start, start + ROWS_AT_ONCE)
            rows[part] = self._flat(tensor(bags.instances[part]))
        self.lessons = self._lessons(rows, bags.offsets, slice(None))

    def read(self, batches: Sequence[np.ndarray], first_step: int) -> tuple[Lessons, np.ndarray]:
        return self.lessons, np.concatenate(batches).astype(np.int64)


class Drawn(Source):
    """Bags by some of their instances, or augmented: other ones in every step."""

    def __init__(self, problem: Problem, parts: Parts) -> None:
        super().__init__(problem, parts)
        self.modules, self.seed, self.most = drawing(problem.model), problem.seed, problem.most_instances

    def read(self, batches: Sequence[np.ndarray], first_step: int) -> tuple[Lessons, np.ndarray]:
        seen = [self._bags(chosen, first_step + number) for number, chosen in enumerate(batches)]
        rows = [self._augmented(bags, first_step + number) for number, bags in enumerate(seen)]
        offsets, chosen = offsets_of(np.concatenate([bags.sizes for bags in seen])), np.concatenate(batches)
        return self._lessons(torch.cat(rows), offsets, chosen), np.arange(len(chosen))

    def _bags(self, chosen: np.ndarray, step: int) -> Bags:
        bags: Bags = self.task.bags
        return bags[chosen] if self.most is None else draw_instances(bags, chosen, self.most, self.seed, step)

    def _augmented(self, bags: Bags, step: int) -> Tensor:
        seat(self.modules, Place(self.seed, step))
        instances = tensor(bags.instances)
        for module in self.parts.augmentations:
            instances = module(instances)
        return self._flat(instances)
