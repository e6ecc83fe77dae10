"""Rows as they come, each with the name of its bag → packed bags, in the order of their first rows."""

from array import array
from pathlib import Path
from typing import Any

import numpy as np

from bagwise.bags import Bags
from bagwise.errors import InputError
from bagwise.formats.cells import is_missing, typed


class Packer:
    """Collects rows; numbers lie in one flat array, so a table costs eight bytes a cell."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.values = array("d")
        self.owners = array("q")
        self.numbers: dict[str, int] = {}
        self.first: list[tuple[str, dict[str, str]]] = []  # a bag's first place, and what it said of the bag
        self.instance_labels: list[str] = []

    def add(self, place: str, bag: Any, values: list[float], instance_label: Any = None, **of_bag: Any) -> None:
        """Add a row; ``of_bag`` are its bag's label and group, which must be the same in each of its rows."""
        name = self._word(place, "bag", bag)
        said = {role: self._word(place, role, cell) for role, cell in of_bag.items()}
        if name not in self.numbers:
            self.numbers[name] = len(self.first)
            self.first.append((place, said))
        number = self.numbers[name]
        self._compare(place, name, said, *self.first[number])
        self.owners.append(number)
        self.values.extend(values)
        if instance_label is not None:
            self.instance_labels.append(self._word(place, "instance label", instance_label))

    def bags(self) -> Bags:
        """All rows, packed."""
        if not self.first:
            raise InputError(f"{self.path} has no rows; give one for each instance")
        owners = np.frombuffer(self.owners, dtype=np.int64)
        order = np.argsort(owners, kind="stable")
        instances = np.frombuffer(self.values).reshape(len(owners), -1)[order]
        roles = {role: [said[role] for _, said in self.first] for role in self.first[0][1]}
        return Bags(
            instances,
            np.concatenate([[0], np.cumsum(np.bincount(owners))]),
            labels=typed(roles["label"]) if "label" in roles else None,
            groups=np.array(roles["group"]) if "group" in roles else None,  # words: 1e3 and 1000 are two patients
            names=np.array(list(self.numbers)),
            instance_labels=typed(self.instance_labels)[order] if self.instance_labels else None,
        )

    def _word(self, place: str, role: str, cell: Any) -> str:
        if is_missing(cell):
            raise InputError(f"{self.path}, {place}: the {role} is missing ({cell!r}); fill it in or drop the row")
        return str(cell).strip().replace("\0", "")

    def _compare(self, place: str, bag: str, said: dict[str, str], first: str, before: dict[str, str]) -> None:
        for role, word in said.items():
            if before[role] != word:
                raise InputError(
                    f"{self.path}, {place}: bag '{bag}' has the {role} {word!r}, but {before[role]!r} in {first}; "
                    f"every row of a bag must repeat its {role}"
                )
