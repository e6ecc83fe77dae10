"""Several ranks in one process, as threads that wait for each other at every sum."""

import threading
from concurrent.futures import ThreadPoolExecutor

import torch

from bagwise.parallel.ranks import Ranks


class SharedValues:
    """The values of all threads, and the barrier at which they wait for each other."""

    def __init__(self, size):
        self.barrier = threading.Barrier(size, timeout=240)
        self.values = [None] * size


class ThreadRanks(Ranks):
    """A rank in a thread."""

    def __init__(self, number, shared):
        super().__init__(number, len(shared.values))
        self.shared = shared

    def sum_over_processes(self, values):
        self.shared.values[self.number] = values.clone()
        self.shared.barrier.wait()
        total = torch.stack(self.shared.values).sum(dim=0)
        self.shared.barrier.wait()
        return values.copy_(total)


def together(size, work):
    """Run ``work(ranks)`` for all ranks at the same time and return the results."""
    shared = SharedValues(size)
    with ThreadPoolExecutor(size) as pool:
        return list(pool.map(lambda number: work(ThreadRanks(number, shared)), range(size)))
