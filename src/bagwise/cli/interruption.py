"""Ctrl-C and termination as a request: the step under way ends, the state is saved, the exit code says which it was."""

import contextlib
import os
import signal
from collections.abc import Iterator
from types import FrameType

WORDS = b"\nstopping when the step under way is done and saved; ask again to stop at once\n"


class Interruption:
    """Whether, and by which signal, the process was asked to stop."""

    def __init__(self) -> None:
        self.signal: int | None = None

    def requested(self) -> bool:
        return self.signal is not None

    @property
    def exit_code(self) -> int:
        """128 + the signal's number, as shells count: 130 for Ctrl-C, 143 for termination."""
        return 128 + (self.signal or 0)

    def __call__(self, number: int, frame: FrameType | None) -> None:
        if self.signal is not None:  # asked twice: do not wait for the step to end
            raise KeyboardInterrupt
        self.signal = number
        os.write(2, WORDS)  # straight to standard error: a handler must not touch a stream that may be half-written


@contextlib.contextmanager
def interruptible() -> Iterator[Interruption]:
    """Turn SIGINT and SIGTERM into a request for the time of the block."""
    interruption = Interruption()
    before = {number: signal.signal(number, interruption) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield interruption
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
