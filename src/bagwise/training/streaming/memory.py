"""The memory limit of training: "auto", "2GB" or a number of bytes, and whether a batch fits into it.

A batch that does not fit is read in pieces. If the model has a context that needs whole bags, it is rejected instead:

    needed memory = c + Σ_b (l · K_b + q · K_b²)        K_b: number of instances of bag b

A context may compare all pairs of instances, so its memory may grow with the square of the size of a bag.
"""

import copy
import math
import os
import re
import weakref
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from bagwise.arguments import check_whole_number, describe_value
from bagwise.bags import Bags, name_bag
from bagwise.errors import InputError
from bagwise.nn import BagModel
from bagwise.training.batches import bags_to_tensors
from bagwise.training.streaming.gradient import stream_scores
from bagwise.training.streaming.pieces import cut_pieces, is_streamable

UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
AUTO_DIVISOR = 4  # "auto" is the memory of the device divided by this
DEFAULT_MEMORY = 8 * 10**9  # assumed where the system does not report its memory
CGROUP_LIMIT = Path("/sys/fs/cgroup/memory.max")  # memory limit of a container

ROWS_PER_PIECE = 2048  # rows per piece, if a batch is read in pieces
BACKWARD_FACTOR = 1.4  # peak memory of a backward pass relative to the stored activations, because of the gradients
SAMPLE_ROWS = 64  # rows used to measure the memory per row
SAMPLE_SIZES = (256, 512, 1024)  # sizes of the bags used to measure how the memory of whole bags grows


def resolve_memory(memory: str | int, device: torch.device) -> int:
    """Convert a memory limit to bytes.

    Parameters
    ----------
    memory : str or int
        A number of bytes, a size such as "2GB" or "500MB", or "auto", which is a quarter of all memory. "auto" does not
        depend on the memory that is currently free, because a run must not depend on other processes.
    device : torch.device
        Device whose memory "auto" refers to.

    Returns
    -------
    int
        Memory limit in bytes.

    Raises
    ------
    InputError
        If the limit is not one of these, or is less than one byte.

    Examples
    --------
    >>> resolve_memory("2GB", torch.device("cpu")), resolve_memory(5_000_000, torch.device("cpu"))
    (2000000000, 5000000)
    """
    if not isinstance(memory, str):
        return check_whole_number("memory", memory, minimum=1)
    if memory == "auto":
        return _get_device_memory(device) // AUTO_DIVISOR
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT]?B|)", memory.strip(), re.IGNORECASE)
    size = 0 if match is None else int(float(match[1]) * UNITS[match[2].upper()])
    if size < 1:
        raise InputError(
            "memory must be 'auto', a size such as '2GB' or '500MB', or a number of bytes, "
            f"got {describe_value(memory)}"
        )
    return size


def _get_device_memory(device: torch.device) -> int:
    """Return the memory of a device in bytes; for the CPU, that of the machine or the limit of the container."""
    if device.type == "cuda":
        return torch.cuda.get_device_properties(device).total_memory
    try:
        physical = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return DEFAULT_MEMORY
    try:
        return min(physical, int(CGROUP_LIMIT.read_text(encoding="ascii")))
    except (OSError, ValueError):  # no such file, or "max"
        return physical


class MemoryBudget:
    """Memory limit of training: batches that exceed it are computed in pieces, with the same gradients.

    The limit applies to the activations and gradients of the backward pass. The bags themselves do not count, because
    they may be memory-mapped.

    Parameters
    ----------
    limit : float
        Memory limit in bytes.

    Attributes
    ----------
    bytes_per_row : float or None
        Memory per instance; measured with the first batch that is larger than one piece, None before.
    growths : dict of bool to MemoryGrowth
        Memory of whole bags, for single bags (False) and several bags (True); measured when first needed.
    """

    def __init__(self, limit: float) -> None:
        self.limit = limit
        self.bytes_per_row: float | None = None
        self.growths: dict[bool, MemoryGrowth] = {}

    def scores(self, model: nn.Module, bags: Bags, chosen: np.ndarray, device: torch.device) -> Tensor:
        """Compute the scores of the chosen bags, for a backward pass.

        Parameters
        ----------
        model : nn.Module
            Model to train.
        bags : Bags
            All bags.
        chosen : ndarray of int
            Indices of the bags of the batch.
        device : torch.device
            Device of the model.

        Returns
        -------
        Tensor of shape (bags, scores)
            Scores of the chosen bags.

        Raises
        ------
        InputError
            If the bags do not fit, and the model has a context that needs whole bags.
        """
        if is_streamable(model) and not self._fits(model, bags, chosen, device):
            return stream_scores(model, bags, chosen, device, ROWS_PER_PIECE)
        self.check_whole_bags(model, bags, chosen, device)
        return model(*bags_to_tensors(bags[chosen], device)).scores

    def check_whole_bags(self, model: nn.Module, bags: Bags, chosen: np.ndarray, device: torch.device) -> None:
        """Check that bags fit into the memory limit, if the model has a context that needs whole bags.

        Parameters
        ----------
        model : nn.Module
            Model to train or to predict with. If gradients are disabled, only the forward pass needs memory.
        bags : Bags
            All bags.
        chosen : ndarray of int
            Indices of the bags that are computed together.
        device : torch.device
            Device of the model.

        Raises
        ------
        InputError
            If the bags do not fit.
        """
        sizes = bags.sizes[chosen]
        if not isinstance(model, BagModel) or not model.mixes_instances or is_streamable(model):
            return
        if sizes.sum() <= ROWS_PER_PIECE or math.isinf(self.limit):
            return
        several = len(chosen) > 1
        if several not in self.growths:
            self.growths[several] = measure_memory_growth(model, bags, chosen, device)
        needed = self.growths[several].estimate(sizes)
        if needed > self.limit:
            raise InputError(_describe_excess(model, bags, chosen, needed, self.limit))

    def _fits(self, model: BagModel, bags: Bags, chosen: np.ndarray, device: torch.device) -> bool:
        n_rows = int(bags.sizes[chosen].sum())
        if n_rows <= ROWS_PER_PIECE:
            return True
        if self.bytes_per_row is None:
            self.bytes_per_row = measure_row_bytes(model, bags, chosen, device)
        return n_rows * self.bytes_per_row * BACKWARD_FACTOR <= self.limit


def measure_row_bytes(model: BagModel, bags: Bags, chosen: np.ndarray, device: torch.device) -> float:
    """Measure the memory per instance that a forward pass stores for the backward pass.

    A copy of the model processes a few rows; the model and the random state are not changed.
    """
    trial = copy.deepcopy(model)
    parameter_storages = {value.untyped_storage().data_ptr() for value in (*trial.parameters(), *trial.buffers())}
    stored_bytes: dict[int, int] = {}

    def record(value: Tensor) -> Tensor:
        storage = value.untyped_storage()
        if storage.data_ptr() not in parameter_storages:
            stored_bytes[storage.data_ptr()] = storage.nbytes()
        return value

    sample = next(cut_pieces(bags, chosen, SAMPLE_ROWS)).bags
    recording = torch.autograd.graph.saved_tensors_hooks(record, lambda value: value)
    with torch.random.fork_rng([device] if device.type == "cuda" else []), recording:
        trial(*bags_to_tensors(sample, device))
    return sum(stored_bytes.values()) / sample.n_instances


class MemoryGrowth(NamedTuple):
    """Memory that a model needs for whole bags: constant + Σ (linear · size + quadratic · size²), in bytes."""

    constant: float
    linear: float
    quadratic: float

    def estimate(self, sizes: np.ndarray) -> float:
        """Estimate the memory for bags of these sizes that are computed together."""
        numbers = sizes.astype(np.float64)
        return self.constant + float((self.linear * numbers + self.quadratic * numbers**2).sum())


def measure_memory_growth(model: BagModel, bags: Bags, chosen: np.ndarray, device: torch.device) -> MemoryGrowth:
    """Measure the memory of three bags of different sizes, with the backward pass if gradients are enabled.

    If several bags are chosen, each of the three bags is computed together with a bag of one instance, because the
    reductions within several bags need more memory. A copy of the model processes a few rows; the model and the random
    state are not changed.
    """
    trial = copy.deepcopy(model)
    rows = next(cut_pieces(bags, chosen, SAMPLE_SIZES[-1])).bags.instances
    (small, middle, large), peaks = SAMPLE_SIZES, []
    for size in SAMPLE_SIZES:
        offsets = np.array([0, size, size + 1] if len(chosen) > 1 else [0, size])
        sample = Bags.trusted(instances=rows[np.arange(offsets[-1]) % len(rows)], offsets=offsets)
        with torch.random.fork_rng([device] if device.type == "cuda" else []):
            peaks.append(_measure_peak(trial, sample, device))
    slopes = (peaks[1] - peaks[0]) / (middle - small), (peaks[2] - peaks[1]) / (large - middle)
    quadratic = max(0.0, (slopes[1] - slopes[0]) / (large - small))
    linear = slopes[1] - quadratic * (middle + large)
    return MemoryGrowth(peaks[2] - linear * large - quadratic * large**2, linear, quadratic)


def _measure_peak(trial: BagModel, sample: Bags, device: torch.device) -> int:
    tensors = bags_to_tensors(sample, device)
    with PeakCounter([*trial.parameters(), *trial.buffers(), *tensors]) as counter:
        scores = trial(*tensors).scores
        if scores.requires_grad:
            scores.sum().backward()
    trial.zero_grad()
    return counter.peak


class PeakCounter(TorchDispatchMode):
    """Counts the bytes of the tensors that operations of torch create within a ``with`` block, until they are freed.

    Parameters
    ----------
    existing : list of Tensor
        Tensors that exist before and do not count.

    Attributes
    ----------
    peak : int
        Largest number of bytes that existed at the same time.
    """

    def __init__(self, existing: list[Tensor]) -> None:
        super().__init__()
        self.peak = self._current = 0
        self._known = {value.untyped_storage()._cdata for value in existing}

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        for value in tree_leaves(result):
            if isinstance(value, Tensor):
                self._count(value.untyped_storage())
        return result

    def _count(self, storage: torch.UntypedStorage) -> None:
        if storage._cdata not in self._known:
            self._known.add(storage._cdata)
            self._current += storage.nbytes()
            self.peak = max(self.peak, self._current)
            weakref.finalize(storage, self._release, storage._cdata, storage.nbytes())

    def _release(self, identity: int, size: int) -> None:
        self._known.discard(identity)
        self._current -= size


def _describe_excess(model: BagModel, bags: Bags, chosen: np.ndarray, needed: float, limit: float) -> str:
    largest, size = int(chosen[bags.sizes[chosen].argmax()]), int(bags.sizes[chosen].max())
    others = f" together with the other bags of its batch ({len(chosen) - 1})" if len(chosen) > 1 else ""
    larger_limit = f"a larger memory limit, memory='{_to_megabytes(needed)}'"
    in_training = f"a smaller most_instances (sampled from each bag), a smaller batch_size, or {larger_limit}"
    return (
        f"{name_bag(bags.names, largest)} has {size:,} instances and needs about {_to_megabytes(needed)} of "
        f"memory{others}, more than the limit of {_to_megabytes(limit)}; {model.find_streaming_obstacle()}, so the bag "
        f"cannot be read in pieces; use {in_training if torch.is_grad_enabled() else larger_limit}"
    )


def _to_megabytes(size: float) -> str:
    return f"{math.ceil(size / UNITS['MB'])}MB"
