"""Exchange of two folders in one step, so that there is a folder at both paths at every moment."""

import ctypes
import os
from pathlib import Path

CURRENT_FOLDER = -100  # AT_FDCWD: relative paths refer to the current working directory
EXCHANGE = 2  # RENAME_EXCHANGE


def exchange_folders(first: Path, second: Path) -> bool:
    """Exchange two folders by ``renameat2`` of Linux.

    Parameters
    ----------
    first : Path
        Path of a folder.
    second : Path
        Path of another folder on the same disk.

    Returns
    -------
    bool
        False if nothing was done, because the system or the disk does not support it.

    Examples
    --------
    >>> import tempfile
    >>> folders = [Path(tempfile.mkdtemp()) for _ in range(2)]
    >>> _ = (folders[0] / "note.txt").write_text("moved")
    >>> exchange_folders(*folders) == (folders[1] / "note.txt").exists()
    True
    """
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError, TypeError):  # another system, or an old C library
        return False
    return bool(rename(CURRENT_FOLDER, os.fsencode(first), CURRENT_FOLDER, os.fsencode(second), EXCHANGE) == 0)
