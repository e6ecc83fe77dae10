"""Drafts: the hidden names under which files and folders are written before they take their own.

A folder under way may hold gigabytes, and a killed process cannot remove it. Its name says for which path on which
machine it is written, and its writer holds a lock on it: the next who writes the same folder removes what is nobody's.
"""

import contextlib
import hashlib
import os
import secrets
import shutil
import socket
from collections.abc import Iterator
from pathlib import Path

from bagwise.locks import try_lock

DRAFT = ".draft-"


def is_draft(path: Path) -> bool:
    """Whether this is what a process left that was killed while it wrote."""
    return path.name.startswith(DRAFT)


def beside(path: Path, prefix: str = DRAFT) -> Path:
    """A new hidden name in the same folder, hence on the same disk: only then is a rename atomic."""
    return path.parent / f"{prefix}{secrets.token_hex(8)}"


def marked(path: Path) -> str:
    """How the names of drafts for a path on this machine begin."""
    said = f"{socket.gethostname()}/{path.name}"
    return f"{DRAFT}{hashlib.sha256(said.encode()).hexdigest()[:12]}-"


@contextlib.contextmanager
def held(draft: Path) -> Iterator[None]:
    """Make a folder, with a lock on it for the time of the block; what is left of it at the end goes.

    It gets its name when it is locked: nobody finds it there without.
    """
    unnamed, handle = draft.with_name(f"{DRAFT}new{draft.name}"), None
    try:
        unnamed.mkdir()
        handle = _open(unnamed)
        if handle is not None:
            try_lock(handle)
        unnamed.replace(draft)
        yield
    finally:
        for left in (unnamed, draft):
            shutil.rmtree(left, ignore_errors=True)
        if handle is not None:
            os.close(handle)


def clear_dead(path: Path) -> None:
    """Remove the folders that killed processes of this machine were writing to become a path."""
    for draft in path.parent.glob(f"{marked(path)}*"):
        handle = _open(draft)
        if handle is not None:
            if try_lock(handle):
                shutil.rmtree(draft, ignore_errors=True)
            os.close(handle)


def _open(folder: Path) -> int | None:
    try:
        return os.open(folder, os.O_RDONLY | os.O_NOFOLLOW | os.O_DIRECTORY)
    except (OSError, AttributeError):  # gone by now, or a system whose folders cannot be opened
        return None
