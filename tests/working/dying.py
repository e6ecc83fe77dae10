"""Work whose process dies: once, or each time; or grows until it is replaced."""

import os
import signal
import time
from pathlib import Path

KEPT: list[bytes] = []


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


def grow(piece: int) -> int:
    """A piece that leaves its process larger, by more than joblib thinks is healthy."""
    KEPT.append(bytes(range(256)) * (400_000_000 // 256))
    time.sleep(1.1)
    return piece
