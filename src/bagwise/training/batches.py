"""Conversion of bags to tensors, grouping of bags into batches of bounded size, and sampling of instances.

Sampling limits the number of instances per bag in a training step; every step takes a new sample. A label belongs to
the bag as a whole, so the sample of a positive bag may lack the instances that make it positive; over many steps, all
instances are used. Predictions always use whole bags.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Shaped
from torch import Tensor

from bagwise.bags import Bags, compute_offsets
from bagwise.nn import Offsets, Purpose, make_generator


class TrainingTask(NamedTuple):
    """Bags with their targets and the weight of each bag in the loss.

    Attributes
    ----------
    bags : Bags
        Training or validation bags.
    targets : ndarray of shape (bags,)
        Class numbers.
    importance : ndarray of shape (bags,)
        Factor on the loss of each bag; 1 without class balancing.
    """

    bags: Bags
    targets: np.ndarray
    importance: np.ndarray


def bags_to_tensors(bags: Bags, device: torch.device) -> tuple[Shaped[Tensor, "instances ..."], Offsets]:
    """Convert bags to tensors on a device; on the CPU the rows are not copied.

    Parameters
    ----------
    bags : Bags
        Bags to convert.
    device : torch.device
        Device of the tensors.

    Returns
    -------
    instances : Tensor of shape (instances, …)
        Instances in the dtype of the bags; float32 instead of float64 on MPS, which does not support float64.
    offsets : Tensor of shape (bags + 1,)
        Boundaries of the bags.
    """
    instances = array_to_tensor(bags.instances)
    if device.type == "mps" and instances.dtype == torch.float64:
        instances = instances.float()
    return instances.to(device), array_to_tensor(bags.offsets).to(device)


def array_to_tensor(array: np.ndarray) -> Tensor:
    """Return a tensor that shares the memory of an array, even if the array is read-only.

    Parameters
    ----------
    array : ndarray
        Array to convert; it is copied only if it is not contiguous.

    Returns
    -------
    Tensor
        The tensor; it must not be written to.
    """
    return torch.from_numpy(np.asarray(_WritableView(np.ascontiguousarray(array))))


class _WritableView:
    """Read-only memory declared as writable: torch has no read-only tensors and warns about read-only arrays."""

    def __init__(self, array: np.ndarray) -> None:
        interface = array.__array_interface__
        self.array = array  # keeps the memory alive
        self.__array_interface__ = {**interface, "data": (interface["data"][0], False)}


def group_by_rows(sizes: np.ndarray, max_rows: int) -> Iterator[slice]:
    """Group consecutive bags so that each group has at most ``max_rows`` instances; a larger bag forms its own group.

    Parameters
    ----------
    sizes : ndarray of shape (bags,)
        Number of instances of each bag.
    max_rows : int
        Maximum number of instances per group.

    Yields
    ------
    slice
        Indices of the bags of a group.

    Examples
    --------
    >>> list(group_by_rows(np.array([2, 2, 9, 1]), max_rows=4))
    [slice(0, 2, None), slice(2, 3, None), slice(3, 4, None)]
    """
    start, rows = 0, 0
    for bag, size in enumerate(sizes):
        if rows and rows + size > max_rows:
            yield slice(start, bag)
            start, rows = bag, 0
        rows += int(size)
    if rows:
        yield slice(start, len(sizes))


def sample_instances(bags: Bags, chosen: np.ndarray, max_instances: int, seed: int, step: int) -> Bags:
    """Sample at most ``max_instances`` instances of each chosen bag, as a function of (seed, step, bag).

    >>> bags = Bags.from_list([[[1.0]] * 3, [[2.0]] * 9])
    >>> sample_instances(bags, np.array([1, 0]), max_instances=4, seed=0, step=0).sizes
    array([4, 3])
    """
    rows = [_sample_rows(bags, int(bag), max_instances, seed, step) for bag in chosen]
    return Bags.trusted(
        instances=bags.view()[np.concatenate(rows)],
        offsets=compute_offsets([len(part) for part in rows]),
        names=np.array([bags.name(int(bag)) for bag in chosen]),
    )


def _sample_rows(bags: Bags, bag: int, max_instances: int, seed: int, step: int) -> np.ndarray:
    start, end = bags.offsets[bag], bags.offsets[bag + 1]
    if end - start <= max_instances:
        return np.arange(start, end)
    sampled = make_generator(seed, Purpose.SAMPLE, step, bag).choice(end - start, max_instances, replace=False)
    return start + np.sort(sampled)
