"""Common names of the columns of a table, by which the role of a column is recognised."""

from collections.abc import Iterable

from bagwise.arguments import canonicalize_name

COMMON_COLUMNS = {
    "bag": ("bag", "bag id", "bag name", "slide id", "slide", "molecule", "molecule name", "image id"),
    "label": ("label", "bag label", "y", "target", "class"),
    "group": ("group", "group id", "case id", "patient id", "patient"),
    "instance_label": ("instance label",),
}
INSTANCE_COLUMNS = ("", "instance", "instance id", "instance name", "conformation", "conformation name")


def list_candidates(columns: Iterable[str], role: str) -> list[str]:
    """List the columns that have a common name of a role.

    Parameters
    ----------
    columns : iterable of str
        Names of the columns that have no role yet.
    role : {"bag", "label", "group", "instance_label"}
        The role.

    Returns
    -------
    list of str

    Examples
    --------
    >>> list_candidates(["Bag_ID", "x", "Patient"], "group")
    ['Patient']
    """
    return [name for name in columns if canonicalize_name(str(name)) in COMMON_COLUMNS[role]]


def names_an_instance(column: str) -> bool:
    """Return whether a column contains names of instances, which are not a feature.

    >>> names_an_instance("conformation_name"), names_an_instance("mass")
    (True, False)
    """
    return canonicalize_name(str(column)) in INSTANCE_COLUMNS
