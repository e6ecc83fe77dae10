"""Several ranks in one process: threads that meet at every sum, as processes do."""

import threading
from concurrent.futures import ThreadPoolExecutor

import torch

from bagwise.training.ranks import Ranks


class Meeting:
    """Where threads leave their values and find the sum."""

    def __init__(self, size):
        self.barrier = threading.Barrier(size, timeout=60)
        self.values = [None] * size


class ThreadRanks(Ranks):
    """A rank whose group is a meeting of threads."""

    def __init__(self, number, meeting):
        super().__init__(number, len(meeting.values))
        self.meeting = meeting

    def summed(self, values):
        self.meeting.values[self.number] = values.clone()
        self.meeting.barrier.wait()
        total = torch.stack(self.meeting.values).sum(dim=0)
        self.meeting.barrier.wait()
        return values.copy_(total)


def together(size, work):
    """What ``work(ranks)`` gives for each rank, all at once."""
    meeting = Meeting(size)
    with ThreadPoolExecutor(size) as pool:
        return list(pool.map(lambda number: work(ThreadRanks(number, meeting)), range(size)))
