"""Increase of the anonymous memory within a block at its peak, as reported by the operating system (RssAnon).

Pages of a memory-mapped file are not anonymous, because the system can drop them at any time.
"""

import contextlib
import threading
from pathlib import Path

STATUS = Path("/proc/self/status")
EVERY = 0.002  # seconds between samples


def anonymous():
    """Return the anonymous memory of this process in bytes."""
    lines = STATUS.read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("RssAnon")) * 1024


class Peak:
    """The largest number of bytes above the baseline; it is final when the block has ended."""

    def __init__(self):
        self.base = self.most = anonymous()
        self.done = threading.Event()

    def watch(self):
        while not self.done.wait(EVERY):
            self.most = max(self.most, anonymous())

    @property
    def extra(self):
        return self.most - self.base


@contextlib.contextmanager
def peak():
    found = Peak()
    watcher = threading.Thread(target=found.watch, daemon=True)
    watcher.start()
    try:
        yield found
    finally:
        found.done.set()
        watcher.join()
