"""Labels of bags for ``bagwise extract`` and for lists of images: a csv file → the label and the group of each bag.

This reader is strict. ``formats.slide_labels`` reads tables of other tools; its docstring lists the differences.
"""

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import NamedTuple

from bagwise.errors import InputError
from bagwise.io import open_csv

Label = int | str


class BagLabel(NamedTuple):
    """The label and the group of a bag.

    Attributes
    ----------
    label : int or str
        The label.
    group : str or None
        The group, e.g. the patient; None if the table has no groups.
    """

    label: Label
    group: str | None


def read_bag_labels(path: str | Path, key: str, label: str, group: str) -> dict[str, BagLabel]:
    """Read the labels of bags.

    Parameters
    ----------
    path : str or Path
        A csv file with one row per bag.
    key : str
        The column with the names of the bags.
    label : str
        The column with the labels. They are converted to integers if all of them are whole numbers.
    group : str
        The column with the groups, e.g. patients; it is optional.

    Returns
    -------
    dict of str to BagLabel
        The labels by bag name.

    Raises
    ------
    InputError
        If a column or a cell is missing, or a name occurs twice.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "labels.csv"
    >>> _ = path.write_text("slide_id,label\\na,1\\nb,0\\n")
    >>> read_bag_labels(path, key="slide_id", label="label", group="case_id")["a"]
    BagLabel(label=1, group=None)
    """
    found: dict[str, tuple[str, str | None]] = {}
    with open_csv(Path(path)) as table:
        missing = [name for name in (key, label) if name not in table.header]
        if missing:
            raise InputError(
                f"{path} has no column '{missing[0]}' (columns: {', '.join(table.header)}); add or rename it"
            )
        for place, cells in table.rows:
            row = {name: str(cell).strip() for name, cell in zip(table.header, cells, strict=True)}
            empty = [name for name in (key, label, group) if row.get(name) == ""]
            if empty:
                raise InputError(f"{path}, {place}: column '{empty[0]}' is empty; fill it in")
            if row[key] in found:
                raise InputError(f"{path}, {place}: '{row[key]}' occurs twice in column '{key}'; keep one row per bag")
            found[row[key]] = row[label], row.get(group)
    if not found:
        raise InputError(f"{path} has no rows below its header; add one row per bag")
    labels = convert_whole_numbers([word for word, _ in found.values()])
    return {name: BagLabel(value, found[name][1]) for name, value in zip(found, labels, strict=True)}


def convert_whole_numbers(words: Sequence[str]) -> list[Label]:
    """Convert words to integers if all of them are whole numbers; otherwise return them unchanged.

    >>> convert_whole_numbers(["0", "1"]), convert_whole_numbers(["0", "tumour"])
    ([0, 1], ['0', 'tumour'])
    """
    try:
        return [int(word) for word in words]
    except ValueError:
        return list(words)


def find_unmatched(labels: Collection[str], names: Collection[str]) -> list[str]:
    """Compare the names in a table of labels with the names of the bags.

    Parameters
    ----------
    labels : collection of str
        The names that have a label.
    names : collection of str
        The names of the bags.

    Returns
    -------
    list of str
        One message about labels without a bag and one about bags without a label, if there are any.

    Examples
    --------
    >>> find_unmatched(["a", "b"], ["b", "c"])
    ["no tiles for labelled 'a'", "no label for 'c'"]
    """
    unmatched = {"no tiles for labelled": set(labels) - set(names), "no label for": set(names) - set(labels)}
    return [f"{problem} {_abbreviate(sorted(found))}" for problem, found in unmatched.items() if found]


def _abbreviate(names: list[str]) -> str:
    quoted = ", ".join(f"'{name}'" for name in names[:5])
    return quoted + (f" and {len(names) - 5} more" if len(names) > 5 else "")
