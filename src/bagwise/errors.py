"""``InputError``, the exception for errors that the user can fix, and the conversion of other exceptions to it."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

MAX_REASON_LENGTH = 200  # characters; longer messages of other libraries are cut


class InputError(ValueError):
    """Invalid input. The message states where the problem is, what is wrong, and how to fix it.

    It is a subclass of ``ValueError``. The command line prints its message as one paragraph and exits with code 2; an
    unexpected exception keeps its traceback.
    """


@contextlib.contextmanager
def translate_errors(path: Path, problem: str, fix: str) -> Iterator[None]:
    """Convert any exception raised in the block to an ``InputError`` that names a file.

    An ``InputError`` is not changed.

    Parameters
    ----------
    path : Path
        File that is being read.
    problem : str
        Description of the problem, if the block fails.
    fix : str
        What the user should do to fix it.

    Raises
    ------
    InputError
        If the block raises an exception; the message contains the first line of its message.

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
