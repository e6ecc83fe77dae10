"""Protection against files that declare more content than they contain.

Before memory is allocated, the size that a file declares is compared with the size of the file and with free memory.
For libraries that allocate any size that a file declares, a temporary limit on the memory of the process makes too
large an allocation fail.
"""

import contextlib
import threading
from collections.abc import Iterator
from pathlib import Path

from bagwise.errors import InputError

MAX_COMPRESSION = 1000  # decompressed bytes per byte of a file; deflate reaches at most 1032, for zeros only
MAX_NUMERIC_COMPRESSION = 100  # the same for features and positions, which are not all zeros
ALWAYS_ALLOWED = 1 << 24  # declared bytes that are always accepted: a chunk of a few rows can exceed these ratios

MEMORY_INFO, CONTROL_GROUP = Path("/proc/meminfo"), Path("/sys/fs/cgroup")

LIMIT_LOCK = threading.RLock()  # if limits overlapped and ended in the order they began, one would remain


def check_declared_size(
    path: Path, n_declared: int, n_stored: int, content: str, max_ratio: int = MAX_COMPRESSION
) -> None:
    """Check that a file does not declare more bytes than its stored bytes can decompress to.

    Parameters
    ----------
    path : Path
        Path of the file, for the error message.
    n_declared : int
        Number of decompressed bytes that the file declares.
    n_stored : int
        Number of bytes that are stored in the file.
    content : str
        What the bytes contain, for the error message.
    max_ratio : int, default=1000
        Largest plausible compression ratio.

    Raises
    ------
    InputError
        If the declared size is negative or implausible.

    Examples
    --------
    >>> check_declared_size(Path("slide.h5"), 4 * 10**12, 1400, "features")
    Traceback (most recent call last):
    bagwise.errors.InputError: slide.h5 declares 4,000,000,000,000 bytes of features, but contains 1,400 ...
    """
    if n_declared < 0 or n_declared > max(ALWAYS_ALLOWED, max_ratio * n_stored):
        raise InputError(
            f"{path} declares {n_declared:,} bytes of {content}, but contains {n_stored:,} bytes; create it again"
        )


def check_free_memory(path: Path, n_bytes: int) -> None:
    """Check that enough memory is free to read a file, if the amount of free memory is known.

    Parameters
    ----------
    path : Path
        Path of the file, for the error message.
    n_bytes : int
        Number of bytes that reading it will allocate.

    Raises
    ------
    InputError
        If less memory is free.

    Examples
    --------
    >>> check_free_memory(Path("table.parquet"), 10**18)
    Traceback (most recent call last):
    bagwise.errors.InputError: table.parquet needs 1,000,000,000,000,000,000 bytes of memory, but only ... are free; ...
    """
    free = get_free_memory()
    if free is not None and n_bytes > free:
        raise InputError(f"{path} needs {n_bytes:,} bytes of memory, but only {free:,} are free; use smaller files")


def get_free_memory() -> int | None:
    """Return the number of bytes that this machine or container can still allocate.

    Returns
    -------
    int or None
        None if it is unknown.
    """
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
    """Limit the memory that the process can allocate during the block; a larger allocation fails immediately.

    The limit applies to the whole process, so keep the block short. There is no limit on systems that cannot measure
    or limit memory.

    Parameters
    ----------
    extra : int
        Number of bytes that the process may allocate.

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
