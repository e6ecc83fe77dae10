"""DATA, as typed on the command line → bags: the name of a data set, or one of our folders."""

from pathlib import Path
from typing import Any, NamedTuple

from bagwise.bags import Bags
from bagwise.datasets import DATASETS, load_dataset
from bagwise.errors import InputError
from bagwise.names import canonical, nearest
from bagwise.storage import load_bags


class Source(NamedTuple):
    """Bags to learn from, and test bags where the data set brings its own."""

    training: Bags
    test: Bags | None


def located(data: str) -> str:
    """DATA so that it is found from any folder: a data set's name as it is, a path made absolute."""
    return str(Path(data).resolve()) if Path(data).exists() else canonical(data)


def open_source(data: str, **options: Any) -> Source:
    """Open DATA; the options are those of the data set's loader.

    >>> open_source("digits", n_bags=10).test.n_bags
    10
    """
    dataset = {canonical(name): found for name, found in DATASETS.items()}.get(canonical(data))
    if dataset is not None and not Path(data).is_dir():
        if not dataset.splits:
            return Source(load_dataset(data, **options), None)
        return Source(load_dataset(data, split="train", **options), load_dataset(data, split="test", **options))
    if not Path(data).exists():
        raise InputError(f"'{data}' is neither a data set nor a folder; {nearest(data, DATASETS)}")
    if options:
        raise InputError(f"options {', '.join(options)} belong to data sets made by name; {data} is a folder")
    return Source(load_bags(data), None)


def judged_bags(data: str, **options: Any) -> Bags:
    """The bags of DATA to judge a model by: its own test bags where it has some, else all."""
    source = open_source(data, **options)
    return source.training if source.test is None else source.test
