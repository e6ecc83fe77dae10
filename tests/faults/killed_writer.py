"""A training that is killed while it writes a checkpoint, at a random write and a random stage of the write."""

import os
import random
import signal
import sys
from pathlib import Path

from bagwise.cli.entry_point import main
from bagwise.training.checkpoint import Checkpoint

STAGES = ("within the bytes", "before the flush", "before the rename", "after the rename")


def die():
    os.kill(os.getpid(), signal.SIGKILL)


def kill_next_write(stage, fraction):
    """Kill the process at this stage of the next write of a file."""
    write, rename = Path.write_bytes, Path.replace
    if stage == "within the bytes":
        Path.write_bytes = lambda path, content: (write(path, content[: int(fraction * len(content))]), die())
    elif stage == "before the flush":
        os.fsync = lambda handle: die()
    elif stage == "before the rename":
        Path.replace = lambda path, target: die()
    else:
        Path.replace = lambda path, target: (rename(path, target), die())


def train_until_killed():
    """Run `bagwise train`; the last argument is the seed that determines the write and the stage."""
    random_source = random.Random(sys.argv.pop())
    remaining, save = random_source.randrange(3), Checkpoint.save

    def save_or_die(checkpoint, state):
        nonlocal remaining
        if remaining == 0:
            kill_next_write(random_source.choice(STAGES), random_source.random())
        remaining -= 1
        save(checkpoint, state)

    Checkpoint.save = save_or_die
    main()
