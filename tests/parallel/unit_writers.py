"""Units, and functions that write them, die, block or fail; worker processes import this module."""

import os
import signal

from bagwise.errors import InputError
from bagwise.parallel.shared_folder import WorkUnit


def make_units(folder, names="abcde"):
    return [WorkUnit(name, folder / f"{name}.done", folder) for name in names]


def write_name(unit, stream):
    stream.write(unit.name.encode() * 3)


def die_once_over_b(unit, stream):
    """Write a unit; the first time that b is written, kill the process before the file is complete."""
    write_name(unit, stream)
    mark = unit.of / "killed"
    if unit.name == "b" and not mark.exists():
        mark.touch()
        stream.flush()
        os.kill(os.getpid(), signal.SIGKILL)


def always_die_over_b(unit, stream):
    write_name(unit, stream)
    if unit.name == "b":
        os.kill(os.getpid(), signal.SIGKILL)


def fail_over_b_while_a_blocks(unit, stream):
    """Block while writing a, and fail for b once a has started; a named pipe beside the folder synchronises them."""
    write_name(unit, stream)
    pipe = unit.of.parent / "a has begun"
    if unit.name == "a":
        os.close(os.open(pipe, os.O_WRONLY))  # blocks until b reads
        signal.pause()
    os.close(os.open(pipe, os.O_RDONLY))  # blocks until a writes
    raise InputError(f"{unit.name} is bad")


def fail_over_b(unit, stream):
    write_name(unit, stream)
    if unit.name == "b":
        raise InputError("b is bad")


def never_write(unit, stream):
    raise AssertionError(f"{unit.name} is written again")


def fail_to_get_ready():
    raise InputError("the folder is missing")
