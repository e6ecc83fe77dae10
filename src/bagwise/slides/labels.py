"""A csv of labels: which bag has which label, and which group it must not be separated from."""

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import NamedTuple

from bagwise.errors import InputError
from bagwise.formats.csv_files import open_csv

Label = int | str


class Labelled(NamedTuple):
    """The label of a bag, and its group where the table has one."""

    label: Label
    group: str | None


def read_labels(path: str | Path, key: str, label: str, group: str) -> dict[str, Labelled]:
    """The rows of a csv by the value in column ``key``; labels that are all whole numbers become numbers."""
    found: dict[str, tuple[str, str | None]] = {}
    with open_csv(Path(path)) as table:
        missing = [title for title in (key, label) if title not in table.header]
        if missing:
            raise InputError(f"{path} has no column '{missing[0]}'; it has: {', '.join(table.header)}")
        for place, cells in table.rows:
            row = {title: str(cell).strip() for title, cell in zip(table.header, cells, strict=True)}
            empty = [title for title in (key, label, group) if row.get(title) == ""]
            if empty:
                raise InputError(f"{path}, {place}: '{empty[0]}' is empty; fill it in")
            if row[key] in found:
                raise InputError(f"{path}, {place}: '{row[key]}' stands there twice; keep one row a bag")
            found[row[key]] = row[label], row.get(group)
    if not found:
        raise InputError(f"{path} has no rows below its header; give one row a bag")
    labels = whole_numbers([word for word, _ in found.values()])
    return {name: Labelled(value, found[name][1]) for name, value in zip(found, labels, strict=True)}


def whole_numbers(words: Sequence[str]) -> list[Label]:
    """Words as they are, or numbers if every one is a whole number.

    >>> whole_numbers(["0", "1"]), whole_numbers(["0", "tumour"])
    ([0, 1], ['0', 'tumour'])
    """
    try:
        return [int(word) for word in words]
    except ValueError:
        return list(words)


def unmatched(labels: Collection[str], names: Collection[str]) -> list[str]:
    """A sentence for the labels without a bag, and one for the bags without a label.

    >>> unmatched(["a", "b"], ["b", "c"])
    ["no tiles for labelled 'a'", "no label for 'c'"]
    """
    lonely = {"no tiles for labelled": set(labels) - set(names), "no label for": set(names) - set(labels)}
    return [f"{what} {_listed(sorted(found))}" for what, found in lonely.items() if found]


def _listed(names: list[str]) -> str:
    shown = ", ".join(f"'{name}'" for name in names[:5])
    return shown + (f" and {len(names) - 5} more" if len(names) > 5 else "")
