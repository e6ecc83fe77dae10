"""The files of a data set, known by their SHA-256.

A list of hashes has one line ``sha256  path`` for each form of each file, paths below the data home. Forms of one file
differ in their last suffix only: ``img1.webp`` and ``img1.bmp``, ``data.csv.xz`` and ``data.csv``. Any of them will do.
"""

import functools
from importlib import resources
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from bagwise.datasets import wrappers
from bagwise.errors import InputError
from bagwise.files import sha256

FORMS = (*wrappers.SUFFIXES, ".webp", ".bmp", ".tif")


class Part(NamedTuple):
    """One file of a data set; ``key`` is its path without the suffix of its form, ``forms`` maps paths to SHA-256."""

    key: str
    forms: dict[str, str]

    @property
    def paths(self) -> tuple[str, ...]:
        """Where the file may lie below the data home: every form, and the plain content in any wrapper."""
        wrapped = [self.key + suffix for suffix in wrappers.SUFFIXES] if self.is_wrappable else []
        return tuple(dict.fromkeys([*self.forms, *wrapped]))

    @property
    def is_wrappable(self) -> bool:
        """Whether the content counts, in any wrapper or none."""
        return self.key in self.forms and len(self.forms) > 1

    def fits(self, file: Path) -> bool:
        """Whether a file is this one, in any form."""
        if sha256(file) in self.forms.values():
            return True
        try:
            return self.is_wrappable and wrappers.content_sha256(file) == self.forms[self.key]
        except InputError:  # a damaged wrapper holds no content
            return False

    def refusal(self, file: Path, called: str) -> str:
        """Why a file is not this one: its SHA-256 beside the right one."""
        expected = self.forms.get(self.key + PurePosixPath(called).suffix, next(iter(self.forms.values())))
        found = sha256(file)
        owner = _owners().get(found)
        hint = f" (it is {owner} under another name)" if owner else ""
        return f"{called} is not {PurePosixPath(self.key).name}: its SHA-256 is {found} instead of {expected}{hint}"


@functools.cache
def read_parts(name: str) -> tuple[Part, ...]:
    """The files of a data set, from its list of hashes.

    >>> [part.paths for part in read_parts("musk1")]
    [('mil_classic/musk1.mat',)]
    >>> read_parts("newsgroups-1")[0].paths
    ('mil_extra/Newsgroups1/bagids.csv.xz', 'mil_extra/Newsgroups1/bagids.csv', 'mil_extra/Newsgroups1/bagids.csv.gz')
    """
    found: dict[str, dict[str, str]] = {}
    for line in (_lists() / f"{name}.txt").read_text(encoding="utf-8").splitlines():
        digest, path = line.split("  ", 1)
        key = path.removesuffix(PurePosixPath(path).suffix) if PurePosixPath(path).suffix in FORMS else path
        found.setdefault(key, {})[path] = digest
    return tuple(Part(key, forms) for key, forms in found.items())


@functools.cache
def _owners() -> dict[str, str]:
    """SHA-256 → path, over all data sets."""
    names = [entry.name.removesuffix(".txt") for entry in _lists().iterdir()]
    return {digest: path for name in names for part in read_parts(name) for path, digest in part.forms.items()}


def _lists() -> resources.abc.Traversable:
    return resources.files("bagwise.datasets") / "hashes"
