"""The most anonymous memory a block takes above where it began, as the operating system counts it (RssAnon).

Pages of a mapped file are not anonymous: the system can drop them at any time.
"""

import contextlib
import threading
from pathlib import Path

STATUS = Path("/proc/self/status")
EVERY = 0.002  # seconds


def anonymous():
    """Bytes."""
    lines = STATUS.read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("RssAnon")) * 1024


class Peak:
    """Bytes above the base; complete when the block ends."""

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
