"""A csv file, read line by line: its header, and rows of as many cells as the header has."""

import contextlib
import csv
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, TextIO

from bagwise.errors import InputError

SEPARATORS = ",;\t"
ZIP = b"PK\x03\x04"  # how an xlsx begins


class Table(NamedTuple):
    """A table under reading: its columns, and its rows as they come, each with its place in the file."""

    path: Path
    header: list[str]
    rows: Iterator[tuple[str, list[Any]]]  # ("line 7", the cells)


@contextlib.contextmanager
def open_csv(path: Path) -> Iterator[Table]:
    """Open a csv in UTF-8; it is separated by whichever of comma, semicolon and tab its header has most of.

    Lines without a word are passed over. A first column without a name, pandas' row numbers, is called "".
    """
    if not path.is_file():
        raise InputError(f"{path} is not a file; check the path")
    with path.open("rb") as content:
        if content.read(len(ZIP)) == ZIP:
            raise InputError(f"{path} is a spreadsheet or another archive, not text; save the table as csv")
    with path.open(newline="", encoding="utf-8-sig") as stream:
        lines = _lines(path, stream, _separator(path, stream))
        _, first = next(lines, ("", []))
        yield Table(path, header := _header(path, first), _checked(path, lines, len(header)))


def _separator(path: Path, stream: TextIO) -> str:
    try:
        first = stream.readline(1 << 20)
    except UnicodeDecodeError:
        raise _not_text(path) from None
    stream.seek(0)
    return max(SEPARATORS, key=re.sub('"[^"]*"', "", first).count)  # what is quoted separates nothing


def _lines(path: Path, stream: TextIO, separator: str) -> Iterator[tuple[str, list[str]]]:
    reader = csv.reader(stream, delimiter=separator)
    try:
        for cells in reader:
            if any(cell and not cell.isspace() for cell in cells):
                yield f"line {reader.line_num}", cells
    except UnicodeDecodeError:
        raise _not_text(path) from None
    except csv.Error as error:
        raise InputError(f"{path}, line {reader.line_num} is not csv: {error}; is a quote left open?") from None


def _header(path: Path, cells: list[str]) -> list[str]:
    header = [cell.strip() for cell in cells]
    if not any(header):
        raise InputError(f"{path} is empty; its first line must name the columns")
    if "" in header[1:]:
        raise InputError(f"{path}: column {header[1:].index('') + 2} has no name; the first line must name each column")
    if twice := sorted({name for name in header if header.count(name) > 1} if len(set(header)) < len(header) else []):
        raise InputError(f"{path}: the first line names {', '.join(map(repr, twice[:5]))} more than once; rename one")
    return header


def _checked(path: Path, lines: Iterator[tuple[str, list[str]]], width: int) -> Iterator[tuple[str, list[Any]]]:
    for place, cells in lines:
        if len(cells) != width:
            raise InputError(f"{path}, {place} has {len(cells)} cells, the first line {width}; mend the line")
        yield place, cells


def _not_text(path: Path) -> InputError:
    return InputError(f"{path} is not text in UTF-8; save it as csv in UTF-8")
