"""Tasks that kill or block their process, or exceed its memory limit; worker processes import this module."""

import os
import signal
from pathlib import Path

from joblib.externals.loky import process_executor


def touch_or_die(folder: Path, deadly: str, once: bool, task: str) -> None:
    """Create a file with the name of the task; the deadly task leaves a mark and kills its process instead."""
    mark = folder / f"{task}.died"
    if task == deadly and not (once and mark.exists()):
        mark.write_text(mark.read_text() + "!" if mark.exists() else "!")
        os.kill(os.getpid(), signal.SIGKILL)
    (folder / task).touch()


def return_process_or_block(blocks: bool) -> int:
    """Return the id of the process, or block until the process is killed."""
    if blocks:
        signal.pause()
    return os.getpid()


def outgrow_process(task: int) -> tuple[int, int]:
    """Return the task and the id of its process, after making joblib treat the process as leaking memory."""
    process_executor._MEMORY_LEAK_CHECK_DELAY = -1.0  # check after every task except the first
    process_executor._MAX_MEMORY_LEAK_SIZE = -(1 << 60)  # any size is too large
    return task, os.getpid()
