"""What a file claims to hold, compared with its size and with the memory that is free before anything is allocated."""

from pathlib import Path

from bagwise.errors import InputError

MOST_COMPRESSED = 1000  # bytes that one byte of a file may stand for: deflate's best is 1032, of nothing but zeros
NUMBERS_COMPRESSED = 100  # the same of features and positions, which never are nothing but zeros
SMALL = 1 << 24  # what any file may claim: one chunk of a few rows does compress better than features do
SYSTEM, GROUP = Path("/proc/meminfo"), Path("/sys/fs/cgroup")


def check_claim(path: Path, claimed: int, held: int, what: str, most: int = MOST_COMPRESSED) -> None:
    """Refuse a claim of more bytes than could come out of the ``held`` ones.

    >>> check_claim(Path("slide.h5"), 4 * 10**12, 1400, "features")
    Traceback (most recent call last):
    bagwise.errors.InputError: slide.h5 claims 4,000,000,000,000 bytes of features, but holds 1,400 ...
    """
    if claimed < 0 or claimed > max(SMALL, most * held):
        raise InputError(f"{path} claims {claimed:,} bytes of {what}, but holds {held:,} bytes; make the file again")


def check_memory(path: Path, claimed: int) -> None:
    """Refuse a claim of more bytes than there is memory, where the system tells how much is free.

    >>> check_memory(Path("table.parquet"), 10**18)
    Traceback (most recent call last):
    bagwise.errors.InputError: table.parquet would take 1,000,000,000,000,000,000 bytes of memory, and ... are free; ...
    """
    free = free_memory()
    if free is not None and claimed > free:
        raise InputError(f"{path} would take {claimed:,} bytes of memory, and {free:,} are free; give smaller files")


def free_memory() -> int | None:
    """Bytes that the machine can still give, or what is left of them to the container; None where nobody tells."""
    try:
        lines = SYSTEM.read_text(encoding="ascii").splitlines()
        free = 1024 * next(int(line.split()[1]) for line in lines if line.startswith("MemAvailable:"))
    except (OSError, ValueError, StopIteration):
        return None
    try:
        most, taken = (int((GROUP / name).read_text(encoding="ascii")) for name in ("memory.max", "memory.current"))
    except (OSError, ValueError):  # no container, or "max"
        return free
    return min(free, most - taken)
