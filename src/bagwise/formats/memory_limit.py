"""A short-lived limit on memory, for the moment in which a library believes a length that it read."""

import contextlib
import threading
from collections.abc import Iterator
from pathlib import Path

ALONE = threading.RLock()  # two limits that end in another order than they began would leave one behind


@contextlib.contextmanager
def at_most(extra: int) -> Iterator[None]:
    """Let the process grow by so many bytes; asking for more fails at once instead of filling the memory.

    The limit is the whole process's, so keep the block short. Where the system cannot tell or limit, nothing happens.

    >>> with at_most(1 << 30):
    ...     len(bytes(1000))
    1000
    """
    try:
        import resource

        Path("/proc/self/statm").stat()
    except (ImportError, OSError):
        yield
        return
    with ALONE:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        soft, hard = resource.getrlimit(resource.RLIMIT_AS)
        wanted = pages * resource.getpagesize() + extra
        resource.setrlimit(resource.RLIMIT_AS, (wanted if soft == resource.RLIM_INFINITY else min(wanted, soft), hard))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
