"""The kinds of targets by name, and targets as JSON."""

from typing import Any

import numpy.typing as npt

from bagwise.arguments import choose_by_name
from bagwise.errors import InputError
from bagwise.targets.base import Target

AUTO = "auto"  # the kind that accepts the labels
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


def list_kinds() -> list[str]:
    """List the kinds of targets by name.

    Returns
    -------
    list of str

    Examples
    --------
    >>> "classes" in list_kinds()
    True
    """
    return list(_get_kinds())


def learn_target(kind: str, y: npt.ArrayLike, n_bags: int, positive: Any = None) -> Target:
    """Learn a target of a kind from the labels of the training bags.

    Parameters
    ----------
    kind : str
        A name in ``list_kinds()``, or "auto" for the kind that accepts the labels.
    y : array-like
        Labels of the training bags.
    n_bags : int
        Expected number of labels.
    positive : object, default=None
        The positive class, for kinds that have one; None chooses it.

    Returns
    -------
    Target

    Raises
    ------
    InputError
        If the kind is unknown, the labels are not of this kind, or it has no positive class.

    Examples
    --------
    >>> learn_target("auto", ["no", "yes"], 2).kind
    'classes'
    """
    kinds = _get_kinds()
    accepting = (found for found in reversed(kinds.values()) if found.accepts(y))
    automatic = next(accepting, kinds["classes"])  # which reports what is wrong with the labels
    chosen = choose_by_name(kind, {AUTO: automatic, **kinds}, "target")
    if positive is not None and not chosen.has_positive:
        raise InputError(
            f"positive={positive!r}: a target of the kind '{chosen.kind}' has no positive class; leave it out"
        )
    return chosen.learn(y, n_bags, positive)


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
    kind, kinds = content["kind"], _get_kinds()
    if kind not in kinds:
        raise InputError(f"the target is of the unknown kind {kind!r}; known kinds: {', '.join(kinds)}; update bagwise")
    return kinds[kind].from_json({name: value for name, value in content.items() if name != "kind"})


def make_unnamed_target(n_outputs: int) -> Target:
    """Return the target of predictions whose labels were not stored: the classes 0, 1, ….

    Parameters
    ----------
    n_outputs : int
        Number of classes.

    Returns
    -------
    Target

    Examples
    --------
    >>> make_unnamed_target(2).describe()
    'the classes 0, 1'
    """
    from bagwise.targets.classes import ClassTarget

    return ClassTarget.unnamed(n_outputs)


def _get_kinds() -> dict[str, type[Target]]:
    from bagwise.targets import classes  # noqa: F401 (registers the kinds of this package)

    return KINDS
