"""The processes of one run. torchrun starts them and tells each its number (rank); sums are taken over all of them.

Process 0 is the first: it alone writes. A run without torchrun is one process, for which every sum is what it was.
"""

import contextlib
import os
from collections.abc import Callable, Iterator

import torch
import torch.distributed as processes
from torch import Tensor

from bagwise.errors import InputError

LOST = "another process of this run has died or cannot be reached"
GO_ON = "start the run again with --resume to go on"


class Lost(InputError):  # noqa: N818 (somebody is)
    """Another process of the run is no more."""

    def __init__(self, kept: str = "") -> None:
        super().__init__(f"{LOST}{kept}; {GO_ON}")


class Ranks:
    """This process among those of the run; alone if there is no group."""

    def __init__(self, number: int = 0, size: int = 1) -> None:
        self.number = number
        self.size = size

    @property
    def first(self) -> bool:
        return self.number == 0

    def summed(self, values: Tensor) -> Tensor:
        """The sum over all processes, in place, the same bits in each."""
        self._together(lambda: processes.all_reduce(values))
        return values

    def agreed(self, wish: bool) -> bool:
        """Whether any process wishes it."""
        return bool(self.summed(torch.tensor([float(wish)])).item())

    def check_same(self, numbers: list[int], what: str) -> None:
        """Refuse to go on where processes stand at different places."""
        least, most = torch.tensor(numbers), torch.tensor(numbers)
        self._together(lambda: processes.all_reduce(least, op=processes.ReduceOp.MIN))
        self._together(lambda: processes.all_reduce(most, op=processes.ReduceOp.MAX))
        if not torch.equal(least, most):
            raise InputError(f"the processes of the run do not see the same {what}; its folder must be shared by all")

    def wait(self) -> None:
        """Until all are here."""
        self.agreed(False)

    def tell(self, text: str = "") -> str:
        """The text of the first process, in all of them."""
        size = self.summed(torch.tensor([float(len(text.encode())) if self.first else 0.0]))
        content = torch.zeros(int(size.item()), dtype=torch.int32)
        if self.first and text:
            content += torch.tensor(list(text.encode()), dtype=torch.int32)
        return bytes(self.summed(content).tolist()).decode()

    def _together(self, action: Callable[[], object]) -> None:
        if self.size == 1:
            return
        try:
            action()
        except RuntimeError:  # the connection broke, or nobody answered
            raise Lost from None


def current() -> Ranks:
    """This process among those of the run that is under way."""
    if not (processes.is_available() and processes.is_initialized()):
        return Ranks()
    return Ranks(processes.get_rank(), processes.get_world_size())


@contextlib.contextmanager
def joined() -> Iterator[Ranks]:
    """Join the processes that torchrun started, for the time of the block; without torchrun, be alone."""
    if int(os.environ.get("WORLD_SIZE", "1")) == 1 or processes.is_initialized():
        yield current()
        return
    if torch.cuda.is_available():
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    processes.init_process_group("cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo")
    try:
        yield current()
    finally:
        processes.destroy_process_group()
