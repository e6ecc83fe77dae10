"""Validation of arguments: numbers within bounds, booleans, and names.

In names, spaces, hyphens and underscores are equivalent and case is ignored; the error for an unknown name suggests the
closest valid one.
"""

import difflib
import math
import numbers
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from bagwise.errors import InputError

MAX_VALUE_LENGTH = 60  # characters of a value in an error message
MAX_CHOICES = 30  # names that an error message lists
SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}  # per unit of a duration

Value = TypeVar("Value")


def check_whole_number(name: str, value: Any, minimum: int) -> int:
    """Check that a value is a whole number and return it as an int.

    NumPy integers are accepted; 3.0, "3" and True are not.

    Parameters
    ----------
    name : str
        Name of the argument, for the error message.
    value : object
        Value to check.
    minimum : int
        Smallest valid value.

    Returns
    -------
    int

    Raises
    ------
    InputError
        If the value is not an integer or is below ``minimum``.

    Examples
    --------
    >>> check_whole_number("epochs", "3", minimum=1)
    Traceback (most recent call last):
    bagwise.errors.InputError: epochs is '3' (str); it must be a whole number of at least 1
    """
    if not _is_number(value, numbers.Integral) or value < minimum:
        raise InputError(f"{name} is {describe_value(value)}; it must be a whole number of at least {minimum}")
    return int(value)


def check_real_number(
    name: str, value: Any, minimum: float | None = None, above: float | None = None, below: float | None = None
) -> float:
    """Check that a value is a finite number within bounds and return it as a float.

    Parameters
    ----------
    name : str
        Name of the argument, for the error message.
    value : object
        Value to check.
    minimum : float or None, default=None
        Smallest valid value; None means no minimum.
    above : float or None, default=None
        Exclusive lower bound; None means no bound.
    below : float or None, default=None
        Exclusive upper bound; None means no bound.

    Returns
    -------
    float

    Raises
    ------
    InputError
        If the value is not a finite number or violates a bound.

    Examples
    --------
    >>> check_real_number("dropout", 1, minimum=0, below=1)
    Traceback (most recent call last):
    bagwise.errors.InputError: dropout is 1; it must be a number at least 0 and below 1
    """
    number = _to_float(value)
    is_valid = (
        math.isfinite(number)
        and (minimum is None or number >= minimum)
        and (above is None or number > above)
        and (below is None or number < below)
    )
    if not is_valid:
        bounds = (("at least", minimum), ("above", above), ("below", below))
        allowed = " and ".join(f"{relation} {bound:g}" for relation, bound in bounds if bound is not None)
        raise InputError(
            f"{name} is {describe_value(value)}; it must be a {'number ' + allowed if allowed else 'finite number'}"
        )
    return number


def check_duration(name: str, value: Any) -> float:
    """Check that a value is a duration above zero and return it in seconds.

    Parameters
    ----------
    name : str
        Name of the argument, for the error message.
    value : object
        A number of seconds, or a number with a unit: "90s", "10m", "1.5h" or "2d".

    Returns
    -------
    float

    Raises
    ------
    InputError
        If the value is no such duration.

    Examples
    --------
    >>> check_duration("budget", "10m"), check_duration("budget", 90), check_duration("budget", "1.5 h")
    (600.0, 90.0, 5400.0)
    """
    seconds = _to_float(value)
    if isinstance(value, str) and (text := value.strip().lower()):
        number, unit = (text, "s") if text[-1] not in SECONDS else (text[:-1], text[-1])
        try:
            seconds = float(number) * SECONDS[unit]
        except ValueError:
            seconds = math.nan
    if not (math.isfinite(seconds) and seconds > 0):
        raise InputError(
            f"{name} is {describe_value(value)}; it must be a duration such as 90s, 10m or 2h, or a number of seconds"
        )
    return seconds


def check_bool(name: str, value: Any) -> bool:
    """Check that a value is a boolean and return it as a bool.

    Strings and numbers are rejected, because ``bool("no")`` is True.

    Parameters
    ----------
    name : str
        Name of the argument, for the error message.
    value : object
        Value to check.

    Returns
    -------
    bool

    Raises
    ------
    InputError
        If the value is neither a Python bool nor a NumPy bool.

    Examples
    --------
    >>> check_bool("calibration", "no")
    Traceback (most recent call last):
    bagwise.errors.InputError: calibration is 'no' (str); it must be True or False
    """
    # np.bool_ is detected without an import of NumPy, which would slow down the start of every command
    is_numpy_bool = getattr(value, "shape", None) == () and getattr(value.dtype, "kind", "") == "b"
    if not (isinstance(value, bool) or is_numpy_bool):
        raise InputError(f"{name} is {describe_value(value)}; it must be True or False")
    return bool(value)


def choose_by_name(name: str, table: Mapping[str, Value], what: str) -> Value:
    """Return the value of a name that was given by a user.

    Parameters
    ----------
    name : str
        Name to look up. Case is ignored, and spaces, hyphens and underscores are equivalent.
    table : mapping of str to object
        Value of each valid name.
    what : str
        What the name refers to, such as "pooling", for the error message.

    Returns
    -------
    object
        The value of the name.

    Raises
    ------
    InputError
        If the name is unknown; the message suggests the closest valid name.

    Examples
    --------
    >>> choose_by_name("noisy_or", {"noisy or": 1, "max": 2}, "pooling")
    1
    """
    if not isinstance(name, str):
        raise InputError(f"{what} is {describe_value(name)}; choose one of: {', '.join(table)}")
    found = {canonicalize_name(key): value for key, value in table.items()}.get(canonicalize_name(name))
    if found is None:
        raise InputError(f"{what} '{name}' is unknown; {suggest_name(name, table)}")
    return found


def canonicalize_name(name: str) -> str:
    """Return a name in lower case, with hyphens, underscores and repeated spaces replaced by single spaces.

    >>> canonicalize_name("Gated_Attention")
    'gated attention'
    """
    return " ".join(name.lower().replace("-", " ").replace("_", " ").split())


def suggest_name(name: str, choices: Iterable[str]) -> str:
    """Return a hint for an error message: the closest valid name, or all valid names if none is close.

    >>> suggest_name("atention", ["attention", "max"])
    "did you mean 'attention'?"
    >>> suggest_name("median", ["attention", "max"])
    'choose one of: attention, max'
    """
    choices = list(choices)
    close = difflib.get_close_matches(canonicalize_name(name), [canonicalize_name(choice) for choice in choices], n=1)
    if close:
        original = next(choice for choice in choices if canonicalize_name(choice) == close[0])
        return f"did you mean '{original}'?"
    more = f" … ({len(choices)} in total)" if len(choices) > MAX_CHOICES else ""
    return f"choose one of: {', '.join(choices[:MAX_CHOICES])}{more}"


def describe_value(value: Any) -> str:
    """Format a value for an error message: a number without its type, anything else with its type."""
    text = repr(value)
    text = text if len(text) <= MAX_VALUE_LENGTH else f"{text[:MAX_VALUE_LENGTH]}…"
    return str(value) if _is_number(value, numbers.Real) else f"{text} ({type(value).__name__})"


def _to_float(value: Any) -> float:
    """Return the value as a float; NaN if it is not a number."""
    try:
        return float(value) if _is_number(value, numbers.Real) else math.nan
    except OverflowError:  # an int larger than every float
        return math.inf


def _is_number(value: Any, kind: type) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)
