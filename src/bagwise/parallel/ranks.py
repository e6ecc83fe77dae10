"""Distributed training: the processes (ranks) that torchrun starts, and the assignment of bags to them.

Only rank 0 writes files. Without torchrun there is one process, and every reduction returns its input.
"""

import contextlib
import heapq
import os
from collections.abc import Callable, Iterator

import numpy as np
import torch
import torch.distributed as distributed
from torch import Tensor

from bagwise.errors import InputError


class RankLostError(InputError):
    """Raised if another process of the distributed run died or cannot be reached.

    Parameters
    ----------
    kept : str, default=""
        What was saved; inserted into the message as it is.
    """

    def __init__(self, kept: str = "") -> None:
        super().__init__(
            f"another process of this run has died or cannot be reached{kept}; start the run again with --resume"
        )


class Ranks:
    """Rank of this process, and communication with the other processes of the run.

    Parameters
    ----------
    number : int, default=0
        Rank of this process.
    size : int, default=1
        Number of processes.

    Attributes
    ----------
    number : int
        Rank of this process.
    size : int
        Number of processes.
    """

    def __init__(self, number: int = 0, size: int = 1) -> None:
        self.number = number
        self.size = size

    @property
    def first(self) -> bool:
        """Whether this process has rank 0."""
        return self.number == 0

    def sum_over_processes(self, values: Tensor) -> Tensor:
        """Sum a tensor over all processes, in place; the result is bitwise identical in every process.

        Parameters
        ----------
        values : torch.Tensor
            Values of this process.

        Returns
        -------
        torch.Tensor
            The same tensor, which now contains the sum.
        """
        self._reduce(lambda: distributed.all_reduce(values))
        return values

    def any_process(self, flag: bool) -> bool:
        """Return whether the flag is set in any process.

        Parameters
        ----------
        flag : bool
            Flag of this process.

        Returns
        -------
        bool
            The same in every process.
        """
        return bool(self.sum_over_processes(torch.tensor([float(flag)])).item())

    def check_same(self, numbers: list[int], what: str) -> None:
        """Check that all processes have the same numbers.

        Parameters
        ----------
        numbers : list of int
            Numbers of this process.
        what : str
            What the numbers describe, for the error message.

        Raises
        ------
        InputError
            If the numbers differ between processes.
        """
        smallest, largest = torch.tensor(numbers), torch.tensor(numbers)
        self._reduce(lambda: distributed.all_reduce(smallest, op=distributed.ReduceOp.MIN))
        self._reduce(lambda: distributed.all_reduce(largest, op=distributed.ReduceOp.MAX))
        if not torch.equal(smallest, largest):
            raise InputError(
                f"the processes of the run do not have the same {what}; put its folder on a disk that all of them share"
            )

    def wait(self) -> None:
        """Wait until all processes have called this method."""
        self.any_process(False)

    def broadcast(self, text: str = "") -> str:
        """Broadcast a string from rank 0 to all processes.

        Parameters
        ----------
        text : str, default=""
            String to send; ignored in processes other than rank 0.

        Returns
        -------
        str
            String of rank 0.
        """
        size = self.sum_over_processes(torch.tensor([float(len(text.encode())) if self.first else 0.0]))
        content = torch.zeros(int(size.item()), dtype=torch.int32)
        if self.first and text:
            content += torch.tensor(list(text.encode()), dtype=torch.int32)
        return bytes(self.sum_over_processes(content).tolist()).decode()

    def _reduce(self, action: Callable[[], object]) -> None:
        """Run a collective operation, if there is more than one process."""
        if self.size == 1:
            return
        try:
            action()
        except RuntimeError:  # the connection broke or timed out
            raise RankLostError from None


@contextlib.contextmanager
def join_ranks() -> Iterator[Ranks]:
    """Connect the processes that torchrun started, during the block.

    Yields
    ------
    Ranks
        Rank of this process and number of processes; a single process without torchrun.
    """
    if int(os.environ.get("WORLD_SIZE", "1")) == 1 or distributed.is_initialized():
        yield get_ranks()
        return
    # The first step of an optimizer imports torch._dynamo. If that happens while a process group exists, the group is
    # never freed, and its threads may abort the process when the interpreter ends.
    import torch._dynamo

    if torch.cuda.is_available():
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    distributed.init_process_group("cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo")
    try:
        yield get_ranks()
    finally:
        distributed.destroy_process_group()


def get_ranks() -> Ranks:
    """Return the rank of this process and the number of connected processes.

    Returns
    -------
    Ranks
        A single process if ``join_ranks`` is not active.
    """
    if not (distributed.is_available() and distributed.is_initialized()):
        return Ranks()
    return Ranks(distributed.get_rank(), distributed.get_world_size())


def assign_bags(sizes: np.ndarray, n_ranks: int) -> list[np.ndarray]:
    """Assign the bags of a training step to processes, so that all finish at about the same time.

    Bags are assigned in descending order of size, each to the process with the fewest instances so far. Every bag is
    assigned exactly once; if there are fewer bags than processes, some processes get none.

    Parameters
    ----------
    sizes : numpy.ndarray of shape (n_bags,)
        Number of instances of each bag.
    n_ranks : int
        Number of processes.

    Returns
    -------
    list of numpy.ndarray
        Indices of the bags of each process, in ascending order.

    Examples
    --------
    >>> [bags.tolist() for bags in assign_bags(np.array([5, 1, 4, 2]), 2)]
    [[0, 1], [2, 3]]
    """
    assigned: list[list[int]] = [[] for _ in range(n_ranks)]
    loads = [(0, rank) for rank in range(n_ranks)]
    for bag in np.argsort(-sizes, kind="stable").tolist():
        n_instances, rank = heapq.heappop(loads)
        assigned[rank].append(bag)
        heapq.heappush(loads, (n_instances + int(sizes[bag]), rank))
    return [np.array(sorted(bags), dtype=np.intp) for bags in assigned]
