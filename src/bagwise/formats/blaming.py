"""Whatever a damaged file makes a reading package raise is said of the file."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

from bagwise.errors import InputError

LONGEST = 200  # letters of a package's own words


@contextlib.contextmanager
def blaming(path: Path, wrong: str, fix: str) -> Iterator[None]:
    """Turn any error of the block into a refusal of the file; refusals pass as they are.

    >>> with blaming(Path("slide.h5"), "is damaged", "copy it again"):
    ...     raise OSError("no signature")
    Traceback (most recent call last):
    bagwise.errors.InputError: slide.h5 is damaged (no signature); copy it again
    """
    try:
        yield
    except InputError:
        raise
    except Exception as error:
        reason = str(error).strip().partition("\n")[0][:LONGEST]
        raise InputError(f"{path} {wrong} ({reason}); {fix}") from None
