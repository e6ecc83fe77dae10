"""What a file claims to hold, compared with its size before anything is allocated."""

from pathlib import Path

from bagwise.errors import InputError

MOST_COMPRESSED = 1000  # bytes that one byte of a file may stand for: deflate's best is 1032, of nothing but zeros
SMALL = 1 << 20  # what any file may claim: a page of zeros does compress better than features do


def check_claim(path: Path, claimed: int, held: int, what: str) -> None:
    """Refuse a claim of more bytes than could come out of the ``held`` ones.

    >>> check_claim(Path("slide.h5"), 4 * 10**12, 1400, "features")
    Traceback (most recent call last):
    bagwise.errors.InputError: slide.h5 claims 4,000,000,000,000 bytes of features, but holds 1,400 ...
    """
    if claimed < 0 or claimed > max(SMALL, MOST_COMPRESSED * held):
        raise InputError(f"{path} claims {claimed:,} bytes of {what}, but holds {held:,} bytes; make the file again")
