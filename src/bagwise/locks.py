"""Locks that the system lets go when their holder dies, however it dies."""

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


def try_lock(handle: int) -> bool | None:
    """Whether an open file or folder is ours alone from now on; None where there are no locks.

    >>> import os, tempfile
    >>> place = tempfile.mkdtemp()
    >>> [try_lock(os.open(place, os.O_RDONLY)) for _ in range(2)]
    [True, False]
    """
    if fcntl is None:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a disk without locks
        return None
    return True
