"""Protection against files that claim to hold more than they do.

Before anything is allocated, the size that a file claims is compared with the size of the file and with free memory.
Where a library allocates whatever length it reads, a temporary limit on the memory of the process makes it fail.
"""

import contextlib
import threading
from collections.abc import Iterator
from pathlib import Path

from bagwise.errors import InputError

MAX_COMPRESSION = 1000  # decompressed bytes per byte of a file; deflate reaches at most 1032, for zeros only
NUMBERS_COMPRESSED = 100  # the same for features and positions, which never consist of zeros only
ALWAYS_ALLOWED = 1 << 24  # bytes that any file may claim: a chunk of a few rows can compress better than that

MEMORY_INFO, CONTROL_GROUP = Path("/proc/meminfo"), Path("/sys/fs/cgroup")

LIMIT_LOCK = threading.RLock()  # two overlapping limits that end in the order they began would leave one behind


def check_declared_size(
    path: Path, n_claimed: int, n_stored: int, content: str, max_ratio: int = MAX_COMPRESSION
) -> None:
    """Raise an error if a file claims more bytes than its stored bytes can decompress to.

    Parameters
    ----------
    path : Path
        Path of the file, for the error message.
    n_claimed : int
        Bytes that the file claims to hold after decompression.
    n_stored : int
        Bytes that are stored in the file.
    content : str
        What the bytes are, for the error message.
    max_ratio : int, default=1000
        Largest plausible compression ratio.

    Examples
    --------
    >>> check_declared_size(Path("slide.h5"), 4 * 10**12, 1400, "features")
    Traceback (most recent call last):
    bagwise.errors.InputError: slide.h5 claims 4,000,000,000,000 bytes of features, but holds 1,400 ...
    """
    if n_claimed < 0 or n_claimed > max(ALWAYS_ALLOWED, max_ratio * n_stored):
        raise InputError(
            f"{path} claims {n_claimed:,} bytes of {content}, but holds {n_stored:,} bytes; make the file again"
        )


def check_free_memory(path: Path, n_bytes: int) -> None:
    """Raise an error if reading a file needs more memory than is free, where free memory is known.

    Parameters
    ----------
    path : Path
        Path of the file, for the error message.
    n_bytes : int
        Bytes that reading it will allocate.

    Examples
    --------
    >>> check_free_memory(Path("table.parquet"), 10**18)
    Traceback (most recent call last):
    bagwise.errors.InputError: table.parquet needs 1,000,000,000,000,000,000 bytes of memory, but only ... are free; ...
    """
    free = get_free_memory()
    if free is not None and n_bytes > free:
        raise InputError(f"{path} needs {n_bytes:,} bytes of memory, but only {free:,} are free; give smaller files")


def get_free_memory() -> int | None:
    """Return the bytes that this machine or container can still allocate; None where that is unknown."""
    try:
        lines = MEMORY_INFO.read_text(encoding="ascii").splitlines()
        free = 1024 * next(int(line.split()[1]) for line in lines if line.startswith("MemAvailable:"))
    except (OSError, ValueError, StopIteration):
        return None
    try:
        limit, used = (
            int((CONTROL_GROUP / name).read_text(encoding="ascii")) for name in ("memory.max", "memory.current")
        )
    except (OSError, ValueError):  # not a container, or its limit is "max"
        return free
    return min(free, limit - used)


@contextlib.contextmanager
def limit_memory(extra: int) -> Iterator[None]:
    """Limit how much the process may allocate during the block; a larger allocation fails at once.

    The limit applies to the whole process, so keep the block short. Where the system cannot measure or limit memory,
    nothing happens.

    Parameters
    ----------
    extra : int
        Bytes by which the process may grow.

    Examples
    --------
    >>> with limit_memory(1 << 30):
    ...     len(bytes(1000))
    1000
    """
    try:
        import resource

        Path("/proc/self/statm").stat()
    except (ImportError, OSError):
        yield
        return
    with LIMIT_LOCK:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        soft, hard = resource.getrlimit(resource.RLIMIT_AS)
        limit = pages * resource.getpagesize() + extra
        resource.setrlimit(resource.RLIMIT_AS, (limit if soft == resource.RLIM_INFINITY else min(limit, soft), hard))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
