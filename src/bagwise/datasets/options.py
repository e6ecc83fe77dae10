"""The options of a data set's loader, as people type them: each known, and of the kind that the loader expects."""

import math
import numbers
import types
import typing
from collections.abc import Callable
from typing import Any

from bagwise.errors import InputError
from bagwise.names import nearest

KINDS: dict[Any, str] = {
    int: "a whole number",
    float: "a finite number",
    str: "a word",
    list[int]: "a list of whole numbers",
}


def check_options(name: str, load: Callable[..., Any], options: dict[str, Any]) -> None:
    """Refuse an option that the loader does not have, or whose value is of another kind.

    >>> def load(n_bags: int | None = None): ...
    >>> check_options("digits", load, {"n_bags": "many"})
    Traceback (most recent call last):
    bagwise.errors.InputError: digits: n_bags is 'many'; give a whole number
    """
    known = {option: kind for option, kind in typing.get_type_hints(load).items() if option != "return"}
    for option, value in options.items():
        if option not in known:
            hint = nearest(option, sorted(known)) if known else "it takes none"
            raise InputError(f"{name} has no option '{option}'; {hint}")
        kinds = _kinds(known[option])
        if not any(_is(value, kind) for kind in kinds):
            wanted = " or ".join(KINDS[kind] for kind in kinds if kind in KINDS)
            raise InputError(f"{name}: {option} is {_shown(value)}; give {wanted}")


def _kinds(hint: Any) -> tuple[Any, ...]:
    return typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)


def _is(value: Any, kind: Any) -> bool:
    """Whether a value is of a kind; a truth value is no number, a whole number is a number too."""
    if typing.get_origin(kind) is list:
        (inner,) = typing.get_args(kind)
        return isinstance(value, list | tuple) and all(_is(each, inner) for each in value)
    if isinstance(value, bool):
        return False
    if kind is int:
        return isinstance(value, numbers.Integral)
    if kind is float:
        return isinstance(value, numbers.Real) and _is_finite(value)
    return isinstance(value, kind)


def _is_finite(value: numbers.Real) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number beyond every float
        return False


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:60] + "…"
