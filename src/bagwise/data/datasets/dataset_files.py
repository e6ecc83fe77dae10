"""The files of a data set, identified by the SHA-256 of the file or of its decompressed content.

A list of hashes has one line ``sha256  path`` for each form of each file; paths are relative to the data home. Forms of
one file differ only in their last suffix: ``img1.webp`` and ``img1.bmp``, ``data.csv.xz`` and ``data.csv``. Any form is
accepted.

Compression is detected from the first bytes of a file, not from its name: some browsers decompress a download but keep
its name.
"""

import contextlib
import functools
import gzip
import hashlib
import lzma
import zlib
from collections.abc import Callable, Iterator
from importlib import resources
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from bagwise.errors import InputError
from bagwise.io import hash_file

COMPRESSED_SUFFIXES = (".gz", ".xz")
FORM_SUFFIXES = (*COMPRESSED_SUFFIXES, ".webp", ".bmp", ".tif")
MAX_CONTENT_BYTES = 256 << 20  # no file of a data set decompresses to more; one that does is a decompression bomb
CHUNK_BYTES = 1 << 20


class DatasetFile(NamedTuple):
    """One file of a data set, in any of its forms.

    Attributes
    ----------
    key : str
        Path relative to the data home, without the suffix of its form.
    forms : dict of str to str
        SHA-256 of each form, by its path.
    """

    key: str
    forms: dict[str, str]

    @property
    def paths(self) -> tuple[str, ...]:
        """Possible paths of the file, relative to the data home: every form, and the compressed plain content."""
        compressed = [self.key + suffix for suffix in COMPRESSED_SUFFIXES] if self.is_compressible else []
        return tuple(dict.fromkeys([*self.forms, *compressed]))

    @property
    def is_compressible(self) -> bool:
        """Whether the file may be compressed in any way, because the hash of its plain content is known."""
        return self.key in self.forms and len(self.forms) > 1

    def matches(self, file: Path) -> bool:
        """Return whether a file is this one, in any form."""
        if hash_file(file) in self.forms.values():
            return True
        try:
            return self.is_compressible and hash_content(file) == self.forms[self.key]
        except InputError:  # the compressed data is damaged
            return False

    def explain_mismatch(self, file: Path, source: str) -> str:
        """Return a message with the SHA-256 of a file, which came from ``source``, and the expected SHA-256."""
        expected = self.forms.get(self.key + PurePosixPath(source).suffix, next(iter(self.forms.values())))
        found = hash_file(file)
        known_path = _map_hashes_to_paths().get(found)
        hint = f" (it is {known_path} under another name)" if known_path else ""
        return f"{source} is not {PurePosixPath(self.key).name}: its SHA-256 is {found} instead of {expected}{hint}"


@functools.cache
def list_dataset_files(name: str) -> tuple[DatasetFile, ...]:
    """Return the files of a data set, from its list of hashes.

    >>> [part.paths for part in list_dataset_files("musk1")]
    [('mil_classic/musk1.mat',)]
    >>> list_dataset_files("newsgroups-1")[0].paths
    ('mil_extra/Newsgroups1/bagids.csv.xz', 'mil_extra/Newsgroups1/bagids.csv', 'mil_extra/Newsgroups1/bagids.csv.gz')
    """
    files: dict[str, dict[str, str]] = {}
    for line in (_get_hash_folder() / f"{name}.txt").read_text(encoding="utf-8").splitlines():
        digest, path = line.split("  ", 1)
        suffix = PurePosixPath(path).suffix
        key = path.removesuffix(suffix) if suffix in FORM_SUFFIXES else path
        files.setdefault(key, {})[path] = digest
    return tuple(DatasetFile(key, forms) for key, forms in files.items())


@functools.cache
def _map_hashes_to_paths() -> dict[str, str]:
    """Return the path of each known SHA-256, over all data sets."""
    names = [entry.name.removesuffix(".txt") for entry in _get_hash_folder().iterdir()]
    return {digest: path for name in names for part in list_dataset_files(name) for path, digest in part.forms.items()}


def _get_hash_folder() -> resources.abc.Traversable:
    return resources.files("bagwise.data.datasets") / "hashes"


def read_content(path: Path) -> bytes:
    """Return the whole content of a file, decompressed.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "numbers"
    >>> _ = file.write_bytes(gzip.compress(b"1 2 3"))
    >>> read_content(file)
    b'1 2 3'
    """
    return b"".join(_read_chunks(path))


def hash_content(path: Path) -> str:
    """Return the SHA-256 of the decompressed content, which is read in chunks."""
    digest = hashlib.sha256()
    for chunk in _read_chunks(path):
        digest.update(chunk)
    return digest.hexdigest()


def _read_chunks(path: Path) -> Iterator[bytes]:
    total = 0
    with _open_content(path) as stream:
        while chunk := stream.read(CHUNK_BYTES):
            total += len(chunk)
            if total > MAX_CONTENT_BYTES:
                raise InputError(
                    f"{path} unpacks to more than {MAX_CONTENT_BYTES >> 20} MB; it is not a file of this data set"
                )
            yield chunk


@contextlib.contextmanager
def _open_content(path: Path) -> Iterator[Any]:
    """Open the decompressed content of a file; damaged data raises an ``InputError`` that names the file."""
    open_file = _choose_opener(path)
    try:
        with open_file(path, "rb") as stream:
            yield stream
    except (EOFError, gzip.BadGzipFile, lzma.LZMAError, zlib.error) as error:
        raise InputError(f"{path} is damaged ({error}); fetch or copy it again") from None


def _choose_opener(path: Path) -> Callable[[Path, str], Any]:
    with path.open("rb") as stream:
        start = stream.read(6)
    if start == b"\xfd7zXZ\x00":
        return lzma.LZMAFile
    return gzip.GzipFile if start.startswith(b"\x1f\x8b") else Path.open
