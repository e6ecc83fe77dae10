"""Files in a compressing wrapper, or none: what counts is the content.

The wrapper is told by its first bytes, not by the file's name: browsers unpack what they download and keep the name.
"""

import contextlib
import gzip
import hashlib
import lzma
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bagwise.errors import InputError

SUFFIXES = (".gz", ".xz")
LIMIT = 256 << 20  # no file of a data set unpacks to more; a file that does is a bomb
PIECE = 1 << 20


@contextlib.contextmanager
def unwrapped(path: Path) -> Iterator[Any]:
    """Open the content of a file; a damaged wrapper is refused by name."""
    opener = _opener(path)
    try:
        with path.open("rb") if opener is None else opener(path) as stream:
            yield stream
    except (EOFError, gzip.BadGzipFile, lzma.LZMAError, zlib.error) as error:
        raise InputError(f"{path} is damaged ({error}); fetch or copy it again") from None


def content(path: Path) -> bytes:
    """The whole content of a file.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "numbers"
    >>> _ = file.write_bytes(gzip.compress(b"1 2 3"))
    >>> content(file)
    b'1 2 3'
    """
    return b"".join(_pieces(path))


def content_sha256(path: Path) -> str:
    """The SHA-256 of the content, read in pieces."""
    digest = hashlib.sha256()
    for piece in _pieces(path):
        digest.update(piece)
    return digest.hexdigest()


def _pieces(path: Path) -> Iterator[bytes]:
    total = 0
    with unwrapped(path) as stream:
        while piece := stream.read(PIECE):
            total += len(piece)
            if total > LIMIT:
                raise InputError(f"{path} unpacks to more than {LIMIT >> 20} MB; it is not a file of this data set")
            yield piece


def _opener(path: Path) -> type[gzip.GzipFile] | type[lzma.LZMAFile] | None:
    with path.open("rb") as stream:
        start = stream.read(6)
    if start == b"\xfd7zXZ\x00":
        return lzma.LZMAFile
    return gzip.GzipFile if start.startswith(b"\x1f\x8b") else None
