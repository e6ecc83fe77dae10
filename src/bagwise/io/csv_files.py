"""Csv files: reading row by row, with checks of the header and the number of cells, and atomic writing."""

import contextlib
import csv
import re
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, TextIO

from bagwise.errors import InputError
from bagwise.io.atomic import write_atomically
from bagwise.io.disk_checks import check_file_exists

SEPARATORS = ",;\t"
BEGINNING = 100  # characters of a line that are searched for text before all of its cells are
ZIP_SIGNATURE = b"PK\x03\x04"  # first bytes of an xlsx file


class PlainRow:
    """The cells of a line without quotes, which is split only where cells are needed.

    Parameters
    ----------
    text : str
        The line, without its end.
    separator : str
        The separator of the cells.
    """

    def __init__(self, text: str, separator: str) -> None:
        self.text = text
        self.separator = separator
        self._n_cells = text.count(separator) + 1

    def __len__(self) -> int:
        return self._n_cells

    def __iter__(self) -> Iterator[str]:
        return iter(self.text.split(self.separator))

    def __getitem__(self, index: int) -> str:
        """Return a cell; the line is split from the nearer end.

        >>> PlainRow("a,b,c", ",")[2]
        'c'
        """
        if not 0 <= index < self._n_cells:
            raise IndexError(f"there is no cell {index}")
        if index < self._n_cells // 2:
            return self.text.split(self.separator, index + 1)[index]
        after = self._n_cells - index
        return self.text.rsplit(self.separator, after)[-after]


Cells = list[Any] | PlainRow


class CsvTable(NamedTuple):
    """A csv file that is being read.

    Attributes
    ----------
    path : Path
        Path of the file.
    header : list of str
        Names of the columns.
    rows : iterator of tuple of (str, list or PlainRow)
        Location in the file, such as "line 7", and cells of each row; rows are read one at a time.
    """

    path: Path
    header: list[str]
    rows: Iterator[tuple[str, Any]]


@contextlib.contextmanager
def open_csv(path: Path) -> Iterator[CsvTable]:
    """Open a csv file as ``open_csv_lines`` does, with the cells of each row in a list.

    Parameters
    ----------
    path : Path
        Path of the file.

    Yields
    ------
    CsvTable
        Header and rows.
    """
    with open_csv_lines(path) as table:
        yield table._replace(rows=((place, list(cells)) for place, cells in table.rows))


@contextlib.contextmanager
def open_csv_lines(path: Path) -> Iterator[CsvTable]:
    """Open a csv file in UTF-8 for reading row by row; lines without quotes are not split.

    The separator is the most frequent of comma, semicolon and tab in the header. Lines without text are skipped. The
    name of the first column may be empty, as in files that pandas writes with a row index.

    Parameters
    ----------
    path : Path
        Path of the file.

    Yields
    ------
    CsvTable
        Header and rows.

    Raises
    ------
    InputError
        If the file is missing or is not a csv file in UTF-8, or if a row and the header differ in length.
    """
    check_file_exists(path)
    with path.open("rb") as content:
        if content.read(len(ZIP_SIGNATURE)) == ZIP_SIGNATURE:
            raise InputError(f"{path} is a spreadsheet or another archive, not text; save the table as csv")
    with path.open(newline="", encoding="utf-8-sig") as stream:
        lines = _read_lines(path, stream, _find_separator(path, stream))
        _, first = next(lines, ("", []))
        header = _check_header(path, list(first))
        yield CsvTable(path, header, _check_widths(path, lines, len(header)))


def read_csv(path: Path) -> list[dict[str, str]]:
    """Read a csv file written by ``write_csv``.

    Parameters
    ----------
    path : Path
        Path of the file.

    Returns
    -------
    list of dict
        Cells of each row, by column.
    """
    with path.open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def write_csv(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    """Write rows to a csv file, atomically.

    Only one row is in memory at a time. Numbers are written with all digits.

    Parameters
    ----------
    path : Path
        Path of the file.
    rows : iterable of dict
        Rows, all with the same keys.
    """
    remaining = iter(rows)
    first = next(remaining, {})
    with write_atomically(path) as temporary, temporary.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, fieldnames=list(first))
        writer.writeheader()
        writer.writerows(chain([first] if first else [], remaining))


def _find_separator(path: Path, stream: TextIO) -> str:
    try:
        first = stream.readline(1 << 20)
    except UnicodeDecodeError:
        raise _make_encoding_error(path) from None
    stream.seek(0)
    return max(SEPARATORS, key=re.sub('"[^"]*"', "", first).count)  # without quoted text


def _read_lines(path: Path, stream: TextIO, separator: str) -> Iterator[tuple[str, Cells]]:
    """Yield the lines with text; those with quotes, which may span several lines, are parsed by ``csv``."""
    number = 0
    try:
        for line in stream:
            if '"' in line:
                reader = csv.reader(chain([line], stream), delimiter=separator)
                cells: Cells = next(reader)
                number += reader.line_num
            else:
                cells, number = PlainRow(line.rstrip("\r\n"), separator), number + 1
            if _has_text(line[:BEGINNING], separator) or any(cell and not cell.isspace() for cell in cells):
                yield f"line {number}", cells
    except UnicodeDecodeError:
        raise _make_encoding_error(path) from None
    except csv.Error as error:
        number += reader.line_num
        raise InputError(f"{path}, line {number} is not csv: {error}; check for an unclosed quote") from None


def _has_text(line: str, separator: str) -> bool:
    return bool(line.replace(separator, "").replace('"', "").strip())


def _check_header(path: Path, cells: list[str]) -> list[str]:
    header = [cell.strip() for cell in cells]
    if not any(header):
        raise InputError(f"{path} is empty; its first line must name the columns")
    if "" in header[1:]:
        raise InputError(f"{path}: column {header[1:].index('') + 2} has no name; the first line must name each column")
    if len(set(header)) < len(header):
        duplicates = sorted({name for name in header if header.count(name) > 1})
        raise InputError(
            f"{path}: the first line names {', '.join(map(repr, duplicates[:5]))} more than once; rename one"
        )
    return header


def _check_widths(path: Path, lines: Iterator[tuple[str, Cells]], width: int) -> Iterator[tuple[str, Cells]]:
    for place, cells in lines:
        if len(cells) != width:
            raise InputError(f"{path}, {place} has {len(cells)} cells, but the first line has {width}; correct it")
        yield place, cells


def _make_encoding_error(path: Path) -> InputError:
    return InputError(f"{path} is not text in UTF-8; save it as csv in UTF-8")
