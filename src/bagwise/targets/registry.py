"""The kinds of targets by name, and targets as JSON."""

from typing import Any

from bagwise.errors import InputError
from bagwise.targets.base import Target

KINDS: dict[str, type[Target]] = {}


def register_target(kind: type[Target]) -> type[Target]:
    """Make a kind of target known by its name, so that models with such a target can be loaded; a class decorator.

    Parameters
    ----------
    kind : type
        A concrete subclass of ``Target``.

    Returns
    -------
    type
        The same class.
    """
    KINDS[kind.kind] = kind
    return kind


def save_target(target: Target) -> dict[str, Any]:
    """Return a target as JSON types, with its kind.

    Parameters
    ----------
    target : Target
        The target.

    Returns
    -------
    dict
    """
    return {"kind": target.kind, **target.to_json()}


def restore_target(content: dict[str, Any]) -> Target:
    """Restore a target from the result of ``save_target``.

    Parameters
    ----------
    content : dict
        JSON types.

    Returns
    -------
    Target

    Raises
    ------
    InputError
        If the kind is unknown.
    """
    from bagwise.targets import classes  # noqa: F401 (registers the kinds of this package)

    kind = content["kind"]
    if kind not in KINDS:
        raise InputError(f"the target is of the unknown kind {kind!r}; known kinds: {', '.join(KINDS)}; update bagwise")
    return KINDS[kind].from_json({name: value for name, value in content.items() if name != "kind"})
