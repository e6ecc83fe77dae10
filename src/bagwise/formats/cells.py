"""Cells of a table → numbers and labels; what cannot be one is refused with its place."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from bagwise.errors import InputError

EXACT = 1 << 53  # from here on, floats leave whole numbers out
MISSING = {"", "nan", "na", "n/a", "null"}  # not "none": that is a diagnosis


def is_missing(cell: Any) -> bool:
    """Whether a cell says nothing.

    >>> is_missing(" NaN "), is_missing("none")
    (True, False)
    """
    return cell is None or str(cell).strip().lower() in MISSING


def number(cell: Any, place: str) -> float:
    """A finite number; ``place`` is how a message calls the cell.

    >>> number("1e3", "line 2")
    1000.0
    """
    if is_missing(cell):
        raise InputError(f"{place} is empty or NaN ({cell!r}); fill it in or drop the row")
    try:
        value = float(cell)
    except (TypeError, ValueError, OverflowError):
        fix = "write 1234.5, with a point" if "," in str(cell) else "encode it as one, or leave the column out"
        raise InputError(f"{place} is not a number: {_shown(cell)}; {fix}") from None
    if "_" in str(cell):  # Python reads 1_000 as a number, nobody else does
        raise InputError(f"{place} is not a number: {_shown(cell)}; write it without '_'")
    if not math.isfinite(value):
        raise InputError(f"{place} is {_shown(cell)}; only finite numbers can be learned from")
    return value


def typed(words: Sequence[str]) -> np.ndarray:
    """Whole numbers if all words are (1.0 is one: pandas writes it so), else numbers, else the words.

    A word that a number would not give back, such as 007, keeps all of them words.

    >>> typed(["1.0", "0"]), typed(["0.5", "2"]), typed(["007", "1"])
    (array([1, 0]), array([0.5, 2. ]), array(['007', '1'], dtype='<U3'))
    """
    if all(len(word) < 18 and _is_whole(word) for word in words):
        return np.array([int(word) for word in words], dtype=np.int64)
    if not all(_is_plain(word) for word in words):
        return np.array(words, dtype=str)
    numbers = np.array([float(word) for word in words])
    are_whole = (numbers == np.rint(numbers)).all() and np.abs(numbers).max(initial=0) < EXACT
    return numbers.astype(np.int64) if are_whole else numbers


def _is_whole(word: str) -> bool:
    digits = word.removeprefix("-")
    return digits.isascii() and digits.isdigit() and (digits == "0" or digits[0] != "0")


def _is_plain(word: str) -> bool:
    if "_" in word or (word.removeprefix("-")[:1] == "0" and word.removeprefix("-")[1:2].isdigit()):
        return False
    try:
        value = float(word)
    except ValueError:
        return False
    return math.isfinite(value) and not (_is_whole(word) and abs(value) >= EXACT)


def _shown(cell: Any) -> str:
    text = repr(cell)
    return text if len(text) <= 60 else text[:60] + "…"
