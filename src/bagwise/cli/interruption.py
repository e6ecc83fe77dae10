"""Interruption by Ctrl-C (SIGINT) and termination (SIGTERM).

A command that saves its state finishes and saves the current step before it ends. Any other command ends immediately:
files are written atomically, so completed work is kept and no file is incomplete.
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

STOPPING = b"\nStopping once the current step is finished and saved. Interrupt again to stop at once.\n"
SIGNALS = (signal.SIGINT, signal.SIGTERM)
RESEND_DELAY, RESEND_AGAIN_DELAY = 0.01, 1.0  # seconds


class Interruption:
    """Records whether a signal requested the process to stop, and which signal."""

    def __init__(self) -> None:
        self.signal: int | None = None

    def requested(self) -> bool:
        return self.signal is not None

    @property
    def exit_code(self) -> int:
        """128 + the number of the signal, as in shells: 130 for Ctrl-C, 143 for termination."""
        return 128 + (self.signal or 0)


@contextlib.contextmanager
def handle_interruption() -> Iterator[Interruption]:
    """Record SIGINT and SIGTERM as a request to stop within the block; a second signal ends the block immediately."""
    interruption = Interruption()
    previous: dict[int, Any] = {number: signal.getsignal(number) for number in SIGNALS}

    def handle(number: int, frame: FrameType | None) -> None:
        handler = previous[number]
        if interruption.signal is None:
            os.write(2, STOPPING)  # a handler must not use a stream that may be in the middle of a write
        elif callable(handler):
            handler(number, frame)
        else:
            raise KeyboardInterrupt
        interruption.signal = number

    with _install_handler(handle):
        yield interruption


@contextlib.contextmanager
def end_on_signal() -> Iterator[Interruption]:
    """End the block on SIGINT and SIGTERM by raising an exception, so that cleanup code runs."""
    interruption = Interruption()

    def handle(number: int, frame: FrameType | None) -> None:
        interruption.signal = number
        raise KeyboardInterrupt

    with _install_handler(handle), _resend_lost_signals(interruption):
        yield interruption


@contextlib.contextmanager
def _resend_lost_signals(interruption: Interruption) -> Iterator[None]:
    """Send a signal again if it arrived within a finalizer, where Python drops exceptions."""
    previous, ended, in_hook = sys.unraisablehook, threading.Event(), threading.Event()

    def resend_until_ended() -> None:
        delay = RESEND_DELAY
        while not ended.wait(delay):
            if not in_hook.is_set():  # an exception within the hook would be dropped again
                os.kill(os.getpid(), interruption.signal or signal.SIGINT)
                delay = RESEND_AGAIN_DELAY

    def resend(dropped: Any) -> None:
        if dropped.exc_type is KeyboardInterrupt and interruption.signal is not None:
            in_hook.set()
            threading.Thread(target=resend_until_ended, daemon=True).start()
            in_hook.clear()
        else:
            previous(dropped)

    sys.unraisablehook = resend
    try:
        yield
    finally:
        ended.set()
        sys.unraisablehook = previous


@contextlib.contextmanager
def _install_handler(handle: Callable[[int, FrameType | None], Any]) -> Iterator[None]:
    previous = {number: signal.signal(number, handle) for number in SIGNALS}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


def print_resume_hint(command: Sequence[str] | None = None, is_saved: bool = True) -> None:
    """Print the command that resumes or repeats the work; by default, the command that was stopped."""
    text = shlex.join(command or ["bagwise", *sys.argv[1:]])
    state = "Completed work is saved. Resume" if is_saved else "This method has no checkpoint. Start it again"
    typer.echo(f"Stopped. {state} with:\n  {text}", err=True)
