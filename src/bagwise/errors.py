"""``InputError``, the exception for mistakes that the user can fix, and how errors of other libraries become one."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

MAX_REASON_LENGTH = 200  # characters of another library's message that are kept


class InputError(ValueError):
    """Invalid input. The message states where the problem is, what is wrong, and how to fix it.

    It is a ``ValueError``, so ``except ValueError`` works as anywhere in Python. The command line prints its message
    as one paragraph and exits with code 2; any other exception is a bug and keeps its traceback.
    """


@contextlib.contextmanager
def translate_errors(path: Path, problem: str, fix: str) -> Iterator[None]:
    """Turn any exception raised in the block into an ``InputError`` about a file; an ``InputError`` passes unchanged.

    Parameters
    ----------
    path : Path
        File that is being read.
    problem : str
        What is wrong with the file if the block fails.
    fix : str
        What the user should do about it.

    Examples
    --------
    >>> with translate_errors(Path("slide.h5"), "is damaged", "copy it again"):
    ...     raise OSError("no signature")
    Traceback (most recent call last):
    bagwise.errors.InputError: slide.h5 is damaged (no signature); copy it again
    """
    try:
        yield
    except InputError:
        raise
    except Exception as error:
        reason = str(error).strip().partition("\n")[0][:MAX_REASON_LENGTH]
        raise InputError(f"{path} {problem} ({reason}); {fix}") from None
