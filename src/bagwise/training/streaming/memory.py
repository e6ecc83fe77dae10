"""The memory limit of training: "auto", "2GB" or a number of bytes, and whether a batch fits into it."""

import copy
import os
import re
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from bagwise.arguments import check_whole_number, describe_value
from bagwise.bags import Bags
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
    """

    def __init__(self, limit: float) -> None:
        self.limit = limit
        self.bytes_per_row: float | None = None

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
        """
        if is_streamable(model) and not self._fits(model, bags, chosen, device):
            return stream_scores(model, bags, chosen, device, ROWS_PER_PIECE)
        return model(*bags_to_tensors(bags[chosen], device)).scores

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
