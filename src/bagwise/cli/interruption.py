"""Ctrl-C and termination: work ends where nothing is lost, the exit code says which it was, and the way on is told.

A command that saves its state takes a signal as a request, and ends when the step under way is saved. Any other ends
at once: files are whole or not there, so what was finished is kept.
"""

import contextlib
import os
import shlex
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from types import FrameType
from typing import Any

import typer

WORDS = b"\nstopping when the step under way is done and saved; ask again to stop at once\n"
SIGNALS = (signal.SIGINT, signal.SIGTERM)
SOON = 0.01  # seconds


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


@contextlib.contextmanager
def interruptible() -> Iterator[Interruption]:
    """Turn SIGINT and SIGTERM into a request for the time of the block; asked again, the block ends at once."""
    interruption = Interruption()
    before: dict[int, Any] = {number: signal.getsignal(number) for number in SIGNALS}

    def hear(number: int, frame: FrameType | None) -> None:
        handler = before[number]
        if interruption.signal is None:
            os.write(2, WORDS)  # straight to standard error: a handler must not touch a stream that may be half-written
        elif callable(handler):
            handler(number, frame)
        else:
            raise KeyboardInterrupt
        interruption.signal = number

    with _handled(hear):
        yield interruption


@contextlib.contextmanager
def ending() -> Iterator[Interruption]:
    """End the block at once by SIGINT as by SIGTERM: as an exception, so that nothing half-written stays behind."""
    interruption = Interruption()

    def hear(number: int, frame: FrameType | None) -> None:
        interruption.signal = number
        raise KeyboardInterrupt

    with _handled(hear), _heard_again(interruption):
        yield interruption


@contextlib.contextmanager
def _heard_again(interruption: Interruption) -> Iterator[None]:
    """Send a signal once more that came while Python called back on a dead object, where exceptions are lost."""
    before = sys.unraisablehook

    def look(lost: Any) -> None:
        if lost.exc_type is KeyboardInterrupt and interruption.signal is not None:
            threading.Timer(SOON, os.kill, (os.getpid(), interruption.signal)).start()
        else:
            before(lost)

    sys.unraisablehook = look
    try:
        yield
    finally:
        sys.unraisablehook = before


@contextlib.contextmanager
def _handled(hear: Callable[[int, FrameType | None], Any]) -> Iterator[None]:
    before = {number: signal.signal(number, hear) for number in SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def tell_the_way_on(words: Sequence[str] | None = None) -> None:
    """Say with which words a stopped command goes on: its own, unless others are given."""
    command = shlex.join(words or ["bagwise", *sys.argv[1:]])
    typer.echo(f"stopped; what was finished is kept, and nothing is half-written; to go on:\n  {command}", err=True)
