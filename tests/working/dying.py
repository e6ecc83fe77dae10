"""Work whose process dies: once, or each time."""

import os
import signal
import time
from pathlib import Path


def do(folder: Path, deadly: str, once: bool, piece: str) -> None:
    """Write a file of the piece's name; the deadly piece leaves a mark and kills its process instead."""
    mark = folder / f"{piece}.died"
    if piece == deadly and not (once and mark.exists()):
        mark.write_text(mark.read_text() + "!" if mark.exists() else "!")
        os.kill(os.getpid(), signal.SIGKILL)
    (folder / piece).touch()


def sleepy(seconds: float) -> int:
    """Sleep, and tell which process did."""
    time.sleep(seconds)
    return os.getpid()
