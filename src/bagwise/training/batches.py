"""Bags → tensors, and the grouping of bags into packed batches of bounded size."""

from collections.abc import Iterator

import numpy as np
import torch
from jaxtyping import Shaped
from torch import Tensor

from bagwise.bags import Bags
from bagwise.segments import Offsets


def tensors(bags: Bags, device: torch.device) -> tuple[Shaped[Tensor, "instances ..."], Offsets]:
    """Instances and offsets on a device; on the CPU the rows are not copied."""
    instances = tensor(bags.instances)
    if device.type == "mps" and instances.dtype == torch.float64:  # which MPS does not have
        instances = instances.float()
    return instances.to(device), tensor(bags.offsets).to(device)


def tensor(array: np.ndarray) -> Tensor:
    """A tensor that shares the memory of an array that may be read-only."""
    return torch.from_numpy(np.asarray(_Shared(np.ascontiguousarray(array))))


class _Shared:
    """Memory lent to torch, which has no read-only tensors and warns of read-only arrays; nothing here writes to it."""

    def __init__(self, array: np.ndarray) -> None:
        interface = array.__array_interface__
        self.array = array  # keeps the memory alive
        self.__array_interface__ = {**interface, "data": (interface["data"][0], False)}


def by_rows(sizes: np.ndarray, most: int) -> Iterator[slice]:
    """Neighbouring bags together while they hold at most so many instances; a larger bag stands alone.

    >>> list(by_rows(np.array([2, 2, 9, 1]), most=4))
    [slice(0, 2, None), slice(2, 3, None), slice(3, 4, None)]
    """
    start, rows = 0, 0
    for bag, size in enumerate(sizes):
        if rows and rows + size > most:
            yield slice(start, bag)
            start, rows = bag, 0
        rows += int(size)
    if rows:
        yield slice(start, len(sizes))
