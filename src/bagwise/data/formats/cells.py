"""Cells and columns of a table: parsing numbers and labels, and deciding which column has which role.

A column is named by the user or recognised by a common name (``COMMON_COLUMNS``). A cell that cannot be parsed is
rejected with an error that names the file, the row and the column.
"""

import json
import math
import shlex
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bagwise.arguments import suggest_name
from bagwise.bags import COMMON_COLUMNS, LABEL, list_candidates, names_an_instance
from bagwise.errors import InputError

MISSING = {"", "nan", "na", "n/a", "null"}  # without "none", which is used as a diagnosis
EXACT_LIMIT = 1 << 53  # above this, float64 cannot represent every integer
MAX_SHOWN = 60  # characters of a cell in an error message


def is_missing_cell(cell: Any) -> bool:
    """Return whether a cell has no value.

    >>> is_missing_cell(" NaN "), is_missing_cell("none")
    (True, False)
    """
    return cell is None or str(cell).strip().lower() in MISSING


def parse_number(cell: Any, place: str, fix: str = "encode it as a number") -> float:
    """Parse a finite number.

    Parameters
    ----------
    cell : object
        The cell: text from a csv file, or a Python value from a parquet file.
    place : str
        How error messages refer to the cell, e.g. ``"table.csv, line 2, column 'x'"``.
    fix : str, default="encode it as a number"
        The fix that the error message suggests if the cell is text.

    Returns
    -------
    float

    Raises
    ------
    InputError
        If the cell is missing, not a number, or not finite.

    Examples
    --------
    >>> parse_number("1e3", "line 2")
    1000.0
    """
    if is_missing_cell(cell):
        raise InputError(f"{place} is empty or NaN ({cell!r}); fill in the value or delete the row")
    try:
        value = float(cell)
    except (TypeError, ValueError, OverflowError):
        fix = "use a decimal point, as in 1234.5" if "," in str(cell) else fix
        raise InputError(f"{place} is not a number: {_quote(cell)}; {fix}") from None
    if "_" in str(cell):  # Python parses 1_000 as a number, other tools do not
        raise InputError(f"{place} is not a number: {_quote(cell)}; write it without '_'")
    if not math.isfinite(value):
        raise InputError(f"{place} is {_quote(cell)}; numbers must be finite: replace the value or delete the row")
    return value


def _quote(cell: Any) -> str:
    text = repr(cell)
    return text if len(text) <= MAX_SHOWN else text[:MAX_SHOWN] + "…"


def parse_labels(words: Sequence[str]) -> np.ndarray:
    """Convert labels to integers if all are whole numbers, else to floats if all are numbers, else keep the text.

    ``1.0`` counts as a whole number, because pandas writes integers this way when a column has missing values. If
    converting one label would lose information, as with ``007``, all labels stay text.

    >>> parse_labels(["1.0", "0"]), parse_labels(["0.5", "2"]), parse_labels(["007", "1"])
    (array([1, 0]), array([0.5, 2. ]), array(['007', '1'], dtype='<U3'))
    """
    if all(len(word) < 18 and _is_whole(word) for word in words):
        return np.array([int(word) for word in words], dtype=np.int64)
    if not all(_is_plain_number(word) for word in words):
        return np.array(words, dtype=str)
    numbers = np.array([float(word) for word in words])
    are_whole = (numbers == np.rint(numbers)).all() and np.abs(numbers).max(initial=0) < EXACT_LIMIT
    return numbers.astype(np.int64) if are_whole else numbers


def _is_whole(word: str) -> bool:
    digits = word.removeprefix("-")
    return digits.isascii() and digits.isdigit() and (digits == "0" or digits[0] != "0")


def _is_plain_number(word: str) -> bool:
    """Return whether a word is a finite number that a float represents without losing information."""
    if "_" in word or (word.removeprefix("-")[:1] == "0" and word.removeprefix("-")[1:2].isdigit()):
        return False
    try:
        value = float(word)
    except ValueError:
        return False
    return math.isfinite(value) and not (_is_whole(word) and abs(value) >= EXACT_LIMIT)


class Columns(NamedTuple):
    """Names of a table's columns by role; None for a role without a column, and roles of labels as a dictionary."""

    bag: str
    labels: dict[str, str]
    group: str | None
    instance_label: str | None
    features: list[str]


def assign_columns(path: Path, header: list[str], given: dict[str, str | None], drop: Collection[str] = ()) -> Columns:
    """Assign a role to each column of a table; columns without another role are features.

    Parameters
    ----------
    path : Path
        The table, named in error messages.
    header : list of str
        The names of its columns.
    given : dict of str to str or None
        Column names given by the user, by role. If a role is missing or None, a column with a common name is used. The
        roles of labels are those of ``choose_label_columns``.
    drop : collection of str, default=()
        Columns to ignore. Columns that contain the names of the instances are ignored as well.

    Returns
    -------
    Columns

    Examples
    --------
    >>> assign_columns(Path("a.csv"), ["id", "y", "f1", "f2"], {"bag": "id"})
    Columns(bag='id', labels={'label': 'y'}, group=None, instance_label=None, features=['f1', 'f2'])
    """
    labels = {role: name for role, name in given.items() if role not in COMMON_COLUMNS and name is not None}
    roles = [role for role in COMMON_COLUMNS if role != LABEL or not labels]
    unassigned = [name for name in header if name not in set(given.values()) and name not in drop]
    found = {role: _find_column(path, header, unassigned, role, given.get(role)) for role in roles}
    for role, name in labels.items():
        check_column(path, header, name, format_data_option(role.split()[0], name))
    if (label := found.get(LABEL)) is not None:
        labels = {LABEL: label}
    if found["bag"] is None:
        raise InputError(
            f"{path} has no column with the bag names; name it with --data-option bag=NAME (columns: {_list(header)})"
        )
    for name in drop:
        check_column(path, header, name, format_data_option("drop", name))
    used = {*found.values(), *labels.values(), *drop}
    features = [name for name in header if name not in used and not names_an_instance(name)]
    return Columns(
        bag=found["bag"],
        labels=labels,
        group=found["group"],
        instance_label=found["instance_label"],
        features=features,
    )


def _find_column(path: Path, header: list[str], unassigned: Iterable[str], role: str, given: str | None) -> str | None:
    """Return the given column, or the only unassigned column with a common name of the role."""
    if given is not None:
        return check_column(path, header, given, format_data_option(role, given))
    candidates = list_candidates(unassigned, role)
    if len(candidates) > 1:
        chosen, *others = candidates
        drop = others[0] if len(others) == 1 else json.dumps(others, ensure_ascii=False)
        raise InputError(
            f"{path} has several columns that could be the {role.replace('_', ' ')} ({', '.join(candidates)}); choose "
            f"one and exclude the rest, e.g. {format_data_option(role, chosen)} {format_data_option('drop', drop)}"
        )
    return candidates[0] if candidates else None


def check_column(path: Path, header: list[str], name: str, option: str) -> str:
    """Return the name if the table has this column; ``option`` is the command-line option that requested it."""
    if name not in header:
        raise InputError(f"{path} has no column '{name}' ({option}); {suggest_name(name, header[:50])}")
    return name


def format_data_option(name: str, value: str) -> str:
    """Format an option of a data source for the command line.

    >>> format_data_option("label", "is active")
    "--data-option 'label=is active'"
    """
    return f"--data-option {shlex.quote(f'{name}={value}')}"


def _list(names: list[str]) -> str:
    return ", ".join(names[:20]) + (" …" if len(names) > 20 else "")
