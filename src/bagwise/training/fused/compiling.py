"""How the kernels are compiled: without Python's lock, and so that infinities and NaN keep their meaning."""

import hashlib
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

from numba import njit

# Sums may be reordered and products contracted, so that loops become vector instructions; nothing is assumed finite.
LIBERTIES = {"reassoc", "contract", "nsz", "arcp"}


OPTIONS: dict[str, Any] = {
    "nogil": True,
    "fastmath": LIBERTIES,
    "error_model": "numpy",
    "_nrt": False,
}  # no references are counted
UNSEEN: dict[str, Any] = {
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
}  # Python never calls it: less to compile


def compiled(function: Callable[..., Any]) -> Any:
    """A kernel for other kernels to call: a part of the machine code of its caller.

    Of a kernel that stands alone, a process that has just compiled it runs another copy than one that reads the caller
    from disk, and two copies may round differently: a run that goes on would not end with the same bits.
    """
    return njit(plain(function), **OPTIONS, **UNSEEN, forceinline=True)


def inlined(function: Callable[..., Any]) -> Any:
    """A kernel that may return views, because it becomes a part of its caller."""
    return njit(plain(function), **OPTIONS, **UNSEEN, inline="always")


def entrance(function: Callable[..., Any]) -> Any:
    """A kernel that Python calls; its machine code is kept on disk."""
    return njit(plain(function), **OPTIONS, cache=True)


def sources() -> str:
    """One number for all files of this folder: Numba's cache on disk looks at the file of the entrance alone."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def plain(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function itself: a checker of signatures may have wrapped it in what Numba cannot read."""
    return inspect.unwrap(function)
