"""The names of the data sets, and what stands behind each."""

from collections.abc import Callable
from typing import Any, NamedTuple

from bagwise.bags import Bags
from bagwise.datasets import digits, needles
from bagwise.errors import InputError
from bagwise.names import canonical, choose, nearest


class DataSet(NamedTuple):
    """A source of bags; one with splits takes ``split=`` and brings test bags of its own."""

    load: Callable[..., Bags]
    splits: tuple[str, ...]
    title: str


DATASETS: dict[str, DataSet] = {
    "digits": DataSet(digits.load, digits.SPLITS, "bags of real 8×8 handwritten digits; positive: holds a nine"),
    "needles": DataSet(needles.load, (), "synthetic bags of noise; positive: holds a few shifted instances"),
}


def load_dataset(name: str, **options: Any) -> Bags:
    """Bags of a data set by its name; the options are those of its loader.

    >>> load_dataset("digits", split="test", n_bags=10).n_bags
    10
    """
    dataset = choose(name, DATASETS, "data set")
    known = dataset.load.__annotations__.keys() - {"return"}
    for option in options:
        if option not in known:
            raise InputError(f"{canonical(name)} has no option '{option}'; {nearest(option, sorted(known))}")
    return dataset.load(**options)
