"""Peak anonymous memory of a block above its start, as reported by the operating system (RssAnon).

Pages of a mapped file are not anonymous: the system can drop them at any time.
"""

import contextlib
import threading
from pathlib import Path

STATUS = Path("/proc/self/status")
EVERY = 0.002  # seconds


def anonymous():
    """Anonymous memory of this process in bytes."""
    lines = STATUS.read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("RssAnon")) * 1024


class Peak:
    """Bytes above the baseline; final when the block has ended."""

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
