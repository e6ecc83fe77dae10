"""Sources of training batches: instances after augmentation and preprocessing, as flat rows.

Rows are flattened in the order of torch; for convolutions, the channels of a pixel are contiguous. Without sampling and
augmentation, instances are prepared once. Otherwise they are prepared for every call, with the random streams of the
torch engine.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from bagwise.bags import Bags, compute_offsets
from bagwise.nn import StreamPosition, list_random_modules, set_module_positions
from bagwise.training.batches import array_to_tensor, sample_instances
from bagwise.training.engines.base import TrainingProblem
from bagwise.training.engines.fused.compatibility import ModelParts
from bagwise.training.engines.fused.model_tables import TrainingBags

PREPARED_ROWS = 4096  # rows per call of the preprocessing


class BatchSource(ABC):
    """Abstract base class of sources of training bags."""

    def __init__(self, problem: TrainingProblem, parts: ModelParts) -> None:
        self.task, self.parts = problem.task, parts
        self.dtype = next(problem.model.parameters()).dtype

    @abstractmethod
    def read(self, batches: Sequence[np.ndarray], first_step: int) -> tuple[TrainingBags, np.ndarray]:
        """Return training bags, and the indices in them of the bags of all batches, concatenated."""

    def _make_training_bags(self, instances: Tensor, offsets: np.ndarray, bags: np.ndarray | slice) -> TrainingBags:
        rows = instances.numpy()
        return TrainingBags(
            instances=rows,
            offsets=offsets.astype(np.int64),
            targets=self.task.targets[bags].astype(np.int64),
            importance=self.task.importance[bags].astype(rows.dtype),
        )

    def _prepare(self, instances: Tensor) -> Tensor:
        """Preprocess and flatten instances."""
        with torch.no_grad():
            prepared = instances if self.parts.preprocessing is None else self.parts.preprocessing(instances)
            return (prepared.movedim(1, -1) if self.parts.convolutions else prepared).flatten(1).to(self.dtype)


class PreparedBatches(BatchSource):
    """Source that prepares all instances once."""

    def __init__(self, problem: TrainingProblem, parts: ModelParts) -> None:
        super().__init__(problem, parts)
        bags = self.task.bags
        rows = torch.empty((bags.n_instances, int(np.prod(bags.instance_shape))), dtype=self.dtype)
        for number, block in enumerate(bags.iterate_blocks(PREPARED_ROWS)):
            start = number * PREPARED_ROWS
            rows[start : start + len(block)] = self._prepare(array_to_tensor(block))
        self.bags = self._make_training_bags(rows, bags.offsets, slice(None))

    def read(self, batches: Sequence[np.ndarray], first_step: int) -> tuple[TrainingBags, np.ndarray]:
        return self.bags, np.concatenate(batches).astype(np.int64)


class SampledBatches(BatchSource):
    """Source that samples, augments and prepares the instances for every call."""

    def __init__(self, problem: TrainingProblem, parts: ModelParts) -> None:
        super().__init__(problem, parts)
        self.modules, self.seed = list_random_modules(problem.model), problem.seed
        self.max_instances = problem.most_instances

    def read(self, batches: Sequence[np.ndarray], first_step: int) -> tuple[TrainingBags, np.ndarray]:
        sampled = [self._sample(indices, step) for step, indices in enumerate(batches, first_step)]
        rows = [self._augment(bags, step) for step, bags in enumerate(sampled, first_step)]
        offsets, indices = compute_offsets(np.concatenate([bags.sizes for bags in sampled])), np.concatenate(batches)
        return self._make_training_bags(torch.cat(rows), offsets, indices), np.arange(len(indices))

    def _sample(self, indices: np.ndarray, step: int) -> Bags:
        bags: Bags = self.task.bags
        if self.max_instances is None:
            return bags[indices]
        return sample_instances(bags, indices, self.max_instances, self.seed, step)

    def _augment(self, bags: Bags, step: int) -> Tensor:
        set_module_positions(self.modules, StreamPosition(self.seed, step))
        instances = array_to_tensor(bags.instances)
        for module in self.parts.augmentations:
            instances = module(instances)
        return self._prepare(instances)
