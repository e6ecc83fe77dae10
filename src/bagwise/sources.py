"""DATA, as typed on the command line → bags: a data set's name, one of our folders, a table, or a folder of images."""

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bagwise.bags import Bags
from bagwise.datasets import DATASETS, DataSet, load_dataset
from bagwise.errors import InputError
from bagwise.files import MANIFEST, recover
from bagwise.formats.split_files import read_splits
from bagwise.formats.svm_light import read_svm_light
from bagwise.formats.tables import read_table
from bagwise.formats.uci_musk import read_uci_musk
from bagwise.names import canonical, nearest
from bagwise.quantities import whole_number
from bagwise.slides.images import SUFFIXES, Tiling, load_image_bags
from bagwise.storage import empty_bags, load_bags

READERS: dict[str, Callable[..., Bags]] = {
    ".csv": read_table,
    ".tsv": read_table,
    ".parquet": read_table,
    ".data": read_uci_musk,
    ".svm": read_svm_light,
}
PATHS = ("bags", "splits")  # options that name another file


class Source(NamedTuple):
    """Bags to learn from, test bags where the data set brings its own, and names of bags without an instance."""

    training: Bags
    test: Bags | None
    set_aside: tuple[str, ...] = ()

    @property
    def judged(self) -> Bags:
        """The bags to judge a model by: the test bags where there are some, else all."""
        return self.training if self.test is None else self.test


def located(data: str, options: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """DATA and its options so that they are found from any folder: a data set's name as it is, paths made absolute.

    >>> located("Digits", {"n_bags": 5})
    ('digits', {'n_bags': 5})
    """
    if _dataset(data) is not None:
        return canonical(data), options
    if not Path(data).exists():
        return data, options  # refused when it is opened, by the words that were typed
    absolute = str(Path(data).resolve())
    try:
        absolute.encode()
    except UnicodeEncodeError:  # bytes that are no text: they could not be written into a run's parameters
        raise InputError(f"the path {absolute!r} is not valid UTF-8; rename the file or its folder") from None
    named = {name: str(Path(_beside(Path(data), str(options[name]))).resolve()) for name in PATHS if name in options}
    return absolute, {**options, **named}


def open_source(data: str, **options: Any) -> Source:
    """Open DATA; the options are those of the data set's loader, of the table's reader, or of how images are cut.

    A data set with splits takes ``n_test_bags`` too; ``n_bags`` speaks of the training bags alone. Any DATA but a data
    set takes ``splits``, a split file of CLAM: its test slides are the test bags, those of train and val the training
    bags.

    >>> open_source("digits", n_bags=10, n_test_bags=20).test.n_bags
    20
    """
    dataset = _dataset(data)
    if dataset is not None:
        return _load(data, options) if dataset.splits else Source(load_dataset(data, **options), None)
    path = Path(data)
    recover(path)
    if not path.exists():
        raise InputError(f"'{data}' is neither a data set nor a folder nor a table; {nearest(data, DATASETS)}")
    options = {name: _beside(path, str(value)) if name in PATHS else value for name, value in options.items()}
    splits = options.pop("splits", None)
    source = _read_file(path, options) if path.is_file() else _read_folder(path, options)
    return source if splits is None else _split(source, splits)


def _dataset(data: str) -> DataSet | None:
    """The data set of that name; a folder of bags that is called the same comes first, any other file does not."""
    if not data.strip():
        raise InputError("DATA is empty; give a data set's name, a folder of bags, a table or a folder of images")
    found = {canonical(name): entry for name, entry in DATASETS.items()}.get(canonical(data))
    return None if (Path(data) / MANIFEST).exists() else found


def _load(data: str, options: dict[str, Any]) -> Source:
    """A data set that brings its own test bags, whose number is its own too."""
    if "split" in options:
        raise InputError(f"'{data}' brings its training and its test bags; leave the option split out")
    n_test_bags = options.pop("n_test_bags", None)
    training = load_dataset(data, split="train", **options)
    shared = {name: value for name, value in options.items() if name != "n_bags"}
    if n_test_bags is not None:
        shared["n_bags"] = whole_number("n_test_bags", n_test_bags, least=1)
    return Source(training, load_dataset(data, split="test", **shared))


def _read_folder(path: Path, options: dict[str, Any]) -> Source:
    """One of our folders, or images in a folder for each class."""
    if not (path / MANIFEST).exists():
        if any(file.suffix.lower() in SUFFIXES for file in path.rglob("*")):
            return _read_images(path, options)
        raise InputError(f"{path} holds neither bags (it has no {MANIFEST}) nor images ({', '.join(SUFFIXES)})")
    if options:
        raise InputError(f"options {', '.join(options)} belong to data sets made by name; {path} is a folder")
    return Source(load_bags(path), None, empty_bags(path))


def _read_images(path: Path, options: dict[str, Any]) -> Source:
    for name, value in options.items():
        if name not in Tiling._fields:
            raise InputError(f"images have no option '{name}'; {nearest(name, Tiling._fields)}")
        if not isinstance(value, int | float):
            raise InputError(f"{name} = {value!r}; give a number")
    if "size" not in options:
        raise InputError(f"{path} holds images: say how large their tiles are, e.g. --data-option size=32")
    found = load_image_bags(path, Tiling(**options))
    return Source(found.bags, None, tuple(found.set_aside))


def _read_file(path: Path, options: dict[str, Any]) -> Source:
    if "size" in options:  # a csv of image files: file, label, group
        return _read_images(path, options)
    reader = READERS.get(path.suffix.lower())
    if reader is None:
        raise InputError(
            f"{path} is not a table that can be read; give one of {', '.join(READERS)}, or a folder of bags"
        )
    known = inspect.signature(reader).parameters
    for name, value in options.items():
        if name not in known or name == "path":
            raise InputError(f"{path} has no option '{name}'; {nearest(name, [*known][1:])}")
        options[name] = _fitting(name, value)
    return Source(reader(path, **options), None)


def _fitting(name: str, value: Any) -> Any:
    """A column may be called 1: what was typed as a number is a name all the same."""
    if name == "n_features":
        if not isinstance(value, int) or isinstance(value, bool):
            raise InputError(f"n_features = {value!r}; give a whole number")
        return value
    return [str(each) for each in value] if isinstance(value, list | tuple) else str(value)


def _beside(data: Path, path: str) -> str:
    """A file named by an option: as it is, or beside DATA."""
    return path if Path(path).exists() or not (data.parent / path).exists() else str(data.parent / path)


def _split(source: Source, path: str) -> Source:
    bags = source.training
    names = [bags.name(bag) for bag in range(len(bags))]
    training, validation, test = read_splits(path).rows(names, Path(path))
    kept = bags[np.concatenate([training, validation])]
    return Source(kept, bags[test] if len(test) else None, source.set_aside)
