"""Values given by people: whole or real numbers within their bounds, yes or no; or refused by their name."""

import math
import numbers
from typing import Any

from bagwise.errors import InputError


def whole_number(name: str, value: Any, least: int) -> int:
    """The value as an int; NumPy's whole numbers are welcome, 3.0, "3" and True are not.

    >>> whole_number("epochs", "3", least=1)
    Traceback (most recent call last):
    bagwise.errors.InputError: epochs is '3' (str); it must be a whole number of at least 1
    """
    if not _is(value, numbers.Integral) or value < least:
        raise InputError(f"{name} is {shown(value)}; it must be a whole number of at least {least}")
    return int(value)


def real_number(
    name: str, value: Any, least: float | None = None, above: float | None = None, below: float | None = None
) -> float:
    """The value as a float: finite, at least ``least``, above ``above`` and below ``below``.

    >>> real_number("dropout", 1, least=0, below=1)
    Traceback (most recent call last):
    bagwise.errors.InputError: dropout is 1; it must be a number at least 0 and below 1
    """
    number = _float(value)
    fits = (
        math.isfinite(number)
        and (least is None or number >= least)
        and (above is None or number > above)
        and (below is None or number < below)
    )
    if not fits:
        given = (("at least", least), ("above", above), ("below", below))
        bounds = " and ".join(f"{word} {bound:g}" for word, bound in given if bound is not None)
        raise InputError(f"{name} is {shown(value)}; it must be a {'number ' + bounds if bounds else 'finite number'}")
    return number


def yes_or_no(name: str, value: Any) -> bool:
    """The value as a bool; words and numbers are refused, of which "no" would count as true.

    >>> yes_or_no("standardize", "no")
    Traceback (most recent call last):
    bagwise.errors.InputError: standardize is 'no' (str); give True or False
    """
    numpy_bool = getattr(value, "shape", None) == () and getattr(value.dtype, "kind", "") == "b"  # without NumPy here
    if not (isinstance(value, bool) or numpy_bool):
        raise InputError(f"{name} is {shown(value)}; give True or False")
    return bool(value)


def shown(value: Any) -> str:
    """A value in a message: a number as it is, anything else with its type."""
    text = repr(value)
    text = text if len(text) <= 60 else f"{text[:60]}…"
    return str(value) if _is(value, numbers.Real) else f"{text} ({type(value).__name__})"


def _float(value: Any) -> float:
    try:
        return float(value) if _is(value, numbers.Real) else math.nan
    except OverflowError:  # a whole number beyond every float
        return math.inf


def _is(value: Any, kind: type) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)
