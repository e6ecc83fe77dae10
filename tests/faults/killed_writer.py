"""A training that is killed while it writes a checkpoint: at a random write, and a random moment of it."""

import os
import random
import signal
import sys
from pathlib import Path

from bagwise.cli.entry_point import main
from bagwise.training.checkpoint import Checkpoint

MOMENTS = ("within the bytes", "before the flush", "before the rename", "after the rename")


def die():
    os.kill(os.getpid(), signal.SIGKILL)


def arm(moment, share):
    """From now on, the next write of a file ends the process at this moment."""
    write, rename = Path.write_bytes, Path.replace
    if moment == "within the bytes":
        Path.write_bytes = lambda path, content: (write(path, content[: int(share * len(content))]), die())
    elif moment == "before the flush":
        os.fsync = lambda handle: die()
    elif moment == "before the rename":
        Path.replace = lambda path, target: die()
    else:
        Path.replace = lambda path, target: (rename(path, target), die())


def train_and_die():
    """`bagwise train`, and as the last word a seed for the moment of its death."""
    draws = random.Random(sys.argv.pop())
    left, save = draws.randrange(3), Checkpoint.save

    def save_or_die(checkpoint, state):
        nonlocal left
        if left == 0:
            arm(draws.choice(MOMENTS), draws.random())
        left -= 1
        save(checkpoint, state)

    Checkpoint.save = save_or_die
    main()
