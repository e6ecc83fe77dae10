"""How much memory people grant: "auto", "2GB", or a number of bytes."""

import os
import re
from pathlib import Path
from typing import Any

import torch

from bagwise.errors import InputError
from bagwise.quantities import shown, whole_number

UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
SHARE = 4  # "auto" is the device's memory divided by this
UNKNOWN = 8 * 10**9  # where the system does not say how much there is
GROUP_LIMIT = Path("/sys/fs/cgroup/memory.max")  # of a container


def granted(memory: Any, device: torch.device) -> int:
    """Bytes; "auto" is a quarter of all memory, not of what is free just now: a run must not depend on its neighbours.

    >>> granted("2GB", torch.device("cpu")), granted(5_000_000, torch.device("cpu"))
    (2000000000, 5000000)
    """
    if not isinstance(memory, str):
        return whole_number("memory", memory, least=1)
    if memory == "auto":
        return _all(device) // SHARE
    size = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT]?B|)", memory.strip(), re.IGNORECASE)
    found = 0 if size is None else int(float(size[1]) * UNITS[size[2].upper()])
    if found < 1:
        raise InputError(f"memory is {shown(memory)}; give 'auto', a size as '2GB' or '500MB', or a number of bytes")
    return found


def _all(device: torch.device) -> int:
    """The memory of the device; on the CPU that of the machine, or what the container may use of it."""
    if device.type == "cuda":
        return torch.cuda.get_device_properties(device).total_memory
    try:
        there = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return UNKNOWN
    try:
        return min(there, int(GROUP_LIMIT.read_text(encoding="ascii")))
    except (OSError, ValueError):  # no such file, or "max"
        return there
