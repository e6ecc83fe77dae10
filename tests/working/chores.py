"""Units whose results are their names, and whose writers die, sleep or refuse; other processes find them here."""

import os
import signal
import time

from bagwise.errors import InputError
from bagwise.working.units import Unit


def units_in(folder, names="abcde"):
    return [Unit(name, folder / f"{name}.done", folder) for name in names]


def write_name(unit, stream):
    stream.write(unit.name.encode() * 3)


def die_over_b(unit, stream):
    """Killed over b the first time, with half of it written."""
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


def refuse_b_while_a_is_long(unit, stream):
    """a goes on for a minute; b is refused as soon as a has begun."""
    write_name(unit, stream)
    if unit.name == "a":
        time.sleep(60)
    while not unit.target.with_name("a.claim").exists():
        time.sleep(0.01)
    raise InputError(f"{unit.name} is bad")


def refuse_b(unit, stream):
    write_name(unit, stream)
    if unit.name == "b":
        raise InputError("b is bad")


def never_write(unit, stream):
    raise AssertionError(f"{unit.name} is written again")


def lack_everything():
    raise InputError("nothing is here")
