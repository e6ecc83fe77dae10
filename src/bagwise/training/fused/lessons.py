"""The training bags as the kernels read them: rows of features, prepared once as the model would at every step."""

import numpy as np
import torch

from bagwise.bags import Bags
from bagwise.inputs import Prepare
from bagwise.training.batches import tensor
from bagwise.training.fused.plan import Lessons
from bagwise.training.tasks import Task

ROWS_AT_ONCE = 4096


def prepare_lessons(task: Task, prepare: Prepare | None, dtype: torch.dtype, for_convolution: bool) -> Lessons:
    """Standardised flat rows in the precision of the model, beside offsets, targets and importance.

    Flat as torch flattens them; for convolution the channels of a pixel lie side by side.
    """
    instances = _rows(task.bags, prepare, dtype, for_convolution)
    importance = task.importance.astype(instances.dtype)
    return Lessons(instances, task.bags.offsets.astype(np.int64), task.targets.astype(np.int64), importance)


def _rows(bags: Bags, prepare: Prepare | None, dtype: torch.dtype, for_convolution: bool) -> np.ndarray:
    width = int(np.prod(bags.instance_shape))
    rows = torch.empty((bags.n_instances, width), dtype=dtype)
    with torch.no_grad():
        for start in range(0, bags.n_instances, ROWS_AT_ONCE):
            part = tensor(bags.instances[start : start + ROWS_AT_ONCE])
            part = part if prepare is None else prepare(part)
            rows[start : start + ROWS_AT_ONCE] = (part.movedim(1, -1) if for_convolution else part).flatten(1)
    return rows.numpy()
