"""Which column of a table is what: named by the user, or found by its usual names."""

from collections.abc import Collection, Iterable
from pathlib import Path
from typing import NamedTuple

from bagwise.errors import InputError
from bagwise.names import canonical, nearest

USUAL = {
    "bag": ("bag", "bag id", "bag name", "slide id", "slide", "molecule", "molecule name", "image id"),
    "label": ("label", "bag label", "y", "target", "class"),
    "group": ("group", "group id", "case id", "patient id", "patient"),
    "instance_label": ("instance label",),
}
NAMES_OF_INSTANCES = ("", "instance", "instance id", "instance name", "conformation", "conformation name")


class Columns(NamedTuple):
    """The columns of a table by what they hold; the features are all that is left."""

    bag: str
    label: str | None
    group: str | None
    instance_label: str | None
    features: list[str]


def assign(path: Path, header: list[str], given: dict[str, str | None], drop: Collection[str] = ()) -> Columns:
    """The columns of a table; names of instances and what is in ``drop`` are no features.

    >>> assign(Path("a.csv"), ["id", "y", "f1", "f2"], {"bag": "id"})
    Columns(bag='id', label='y', group=None, instance_label=None, features=['f1', 'f2'])
    """
    free = [name for name in header if name not in set(given.values()) and name not in drop]
    found = {role: find(path, header, free, role, given.get(role)) for role in USUAL}
    if found["bag"] is None:
        raise InputError(f"{path} has no column that names the bags; say which one with bag=NAME: {_listed(header)}")
    for name in drop:
        check_named(path, header, "drop", name)
    taken = {*found.values(), *drop}
    features = [name for name in header if name not in taken and canonical(name) not in NAMES_OF_INSTANCES]
    return Columns(found["bag"], found["label"], found["group"], found["instance_label"], features)


def find(path: Path, header: list[str], free: Iterable[str], role: str, given: str | None) -> str | None:
    """The column of a role: the given one, or the one with a usual name among those that are free."""
    if given is not None:
        return check_named(path, header, role, given)
    candidates = [name for name in free if canonical(name) in USUAL[role]]
    if len(candidates) > 1:
        listed = " or ".join(f"{role}={name}" for name in candidates)
        raise InputError(f"{path} has several columns that may be the {role}; say {listed}, and drop the others")
    return candidates[0] if candidates else None


def check_named(path: Path, header: list[str], role: str, name: str) -> str:
    """The name, if the table has such a column."""
    if name not in header:
        raise InputError(f"{path} has no column '{name}' ({role}={name}); {nearest(name, header[:50])}")
    return name


def _listed(names: list[str]) -> str:
    return ", ".join(names[:20]) + (" …" if len(names) > 20 else "")
