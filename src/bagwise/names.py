"""Names typed by people: spaces, hyphens and underscores mean the same, and a typo gets the nearest valid name."""

import difflib
from collections.abc import Iterable, Mapping
from typing import TypeVar

from bagwise.errors import InputError
from bagwise.quantities import shown

Value = TypeVar("Value")


def canonical(name: str) -> str:
    """The form under which names are stored.

    >>> canonical("Gated_Attention")
    'gated attention'
    """
    return " ".join(name.lower().replace("-", " ").replace("_", " ").split())


def nearest(name: str, choices: Iterable[str]) -> str:
    """A hint for a message: the closest valid name if there is one, else all of them.

    >>> nearest("atention", ["attention", "max"])
    "did you mean 'attention'?"
    >>> nearest("median", ["attention", "max"])
    'choose one of: attention, max'
    """
    choices = list(choices)
    close = difflib.get_close_matches(canonical(name), [canonical(choice) for choice in choices], n=1)
    if close:
        original = next(choice for choice in choices if canonical(choice) == close[0])
        return f"did you mean '{original}'?"
    return f"choose one of: {', '.join(choices)}"


def choose(name: str, table: Mapping[str, Value], what: str) -> Value:
    """Look a typed name up in a table of canonical names.

    >>> choose("noisy_or", {"noisy or": 1, "max": 2}, "pooling")
    1
    """
    if not isinstance(name, str):
        raise InputError(f"{what} is {shown(name)}; give one of: {', '.join(table)}")
    found = {canonical(key): value for key, value in table.items()}.get(canonical(name))
    if found is None:
        raise InputError(f"{what} '{name}' is unknown; {nearest(name, table)}")
    return found
