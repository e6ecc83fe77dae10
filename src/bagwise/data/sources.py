"""Data sources, the argument DATA of the command line: a named data set, a folder of bags, a table, or images."""

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bagwise.arguments import canonicalize_name, check_whole_number, suggest_name
from bagwise.bags import Bags, load_bags, read_empty_bags, read_split_file
from bagwise.data.datasets.registry import DATASETS, DataSet, load_dataset
from bagwise.data.formats.svm_light import read_svm_light
from bagwise.data.formats.tables import read_table
from bagwise.data.formats.uci_musk import read_uci_musk
from bagwise.data.slides.image_bags import IMAGE_SUFFIXES, ImageTiling, load_image_bags
from bagwise.errors import InputError
from bagwise.io import MANIFEST, read_folder, recover_folder

READERS: dict[str, Callable[..., Bags]] = {
    ".csv": read_table,
    ".tsv": read_table,
    ".parquet": read_table,
    ".data": read_uci_musk,
    ".svm": read_svm_light,
}
PATH_OPTIONS = ("bags", "splits")  # options that name another file


class DataSource(NamedTuple):
    """The bags of a source.

    Attributes
    ----------
    training : Bags
        Bags to train on.
    test : Bags or None
        Test bags; None if the source does not define them.
    set_aside : tuple of str
        Names of bags without instances.
    """

    training: Bags
    test: Bags | None
    set_aside: tuple[str, ...] = ()

    @property
    def prediction_bags(self) -> Bags:
        """The bags on which a model is evaluated: the test bags if there are any, otherwise all bags."""
        return self.training if self.test is None else self.test


def open_source(data: str, **options: Any) -> DataSource:
    """Open a data source.

    Parameters
    ----------
    data : str
        The name of a data set, or the path of a folder of bags, a table, a folder of images, or a csv file that lists
        images.
    **options
        Parameters of the data set's loader or of the table's reader, or fields of ``ImageTiling`` for images. A data
        set with predefined splits also accepts ``n_test_bags``; ``n_bags`` then sets the number of training bags only.
        Every source except a data set accepts ``splits``, the path of a split file in CLAM's format: the bags in its
        column test become the test bags, those in train and val the training bags.

    Returns
    -------
    DataSource

    Raises
    ------
    InputError
        If the source does not exist, an option is unknown, or the data cannot be read.

    Examples
    --------
    >>> open_source("digits", n_bags=10, n_test_bags=20).test.n_bags
    20
    """
    dataset = _find_dataset(data)
    if dataset is not None:
        return _load_splits(data, options) if dataset.splits else DataSource(load_dataset(data, **options), None)
    path = Path(data)
    recover_folder(path)
    if not path.exists():
        raise InputError(
            f"no such file or folder: {data}; check the path. There is no data set of this name either; "
            f"{suggest_name(data, DATASETS)}"
        )
    for name in [name for name in PATH_OPTIONS if name in options]:
        options[name] = _find_beside(path, str(options[name]))
    splits = options.pop("splits", None)
    source = _read_file(path, options) if path.is_file() else _read_folder(path, options)
    return source if splits is None else _apply_splits(source, splits)


def resolve_data_path(data: str, options: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Make the paths in DATA and its options absolute, so that they can be opened from any working directory.

    Parameters
    ----------
    data : str
        The source, as for ``open_source``. The name of a data set is returned in its canonical spelling.
    options : dict
        The options of the source, as for ``open_source``.

    Returns
    -------
    data : str
        The source, as an absolute path if it is a path.
    options : dict
        The options, with absolute paths.

    Raises
    ------
    InputError
        If the path is not valid UTF-8.

    Examples
    --------
    >>> resolve_data_path("Digits", {"n_bags": 5})
    ('digits', {'n_bags': 5})
    """
    if _find_dataset(data) is not None:
        return canonicalize_name(data), options
    if not Path(data).exists():
        return data, options  # left as it was typed, for the error message of open_source
    absolute = str(Path(data).resolve())
    try:
        absolute.encode()
    except UnicodeEncodeError:  # such a path cannot be written into the parameters of a run
        raise InputError(f"the path {absolute!r} is not valid UTF-8; rename the file or its folder") from None
    resolved = {
        name: str(Path(_find_beside(Path(data), str(options[name]))).resolve())
        for name in PATH_OPTIONS
        if name in options
    }
    return absolute, {**options, **resolved}


def get_labels(bags: Bags, data: str) -> np.ndarray:
    """Return the labels of bags, which must have labels.

    Parameters
    ----------
    bags : Bags
        The bags.
    data : str
        The source of the bags, for the error message.

    Returns
    -------
    ndarray of shape (n_bags,)

    Raises
    ------
    InputError
        If the bags have no labels.
    """
    if bags.labels is None:
        raise InputError(
            f"the bags of '{data}' have no labels; training and evaluation need one per bag: name the column of a "
            "table with --data-option label=NAME, or pass --labels to bagwise extract"
        )
    return bags.labels


def _find_dataset(data: str) -> DataSet | None:
    """Return the data set with this name, or None; a folder of bags with the same name takes precedence."""
    if not data.strip():
        raise InputError("DATA is empty; pass the name of a data set, a folder of bags, a table or a folder of images")
    found = {canonicalize_name(name): entry for name, entry in DATASETS.items()}.get(canonicalize_name(data))
    return None if (Path(data) / MANIFEST).exists() else found


def _load_splits(data: str, options: dict[str, Any]) -> DataSource:
    """Load the training and test bags of a data set with predefined splits."""
    if "split" in options:
        raise InputError(
            f"'{data}' has predefined training and test bags; leave out --data-option split={options['split']}"
        )
    n_test_bags = options.pop("n_test_bags", None)
    training = load_dataset(data, split="train", **options)
    test_options = {name: value for name, value in options.items() if name != "n_bags"}
    if n_test_bags is not None:
        test_options["n_bags"] = check_whole_number("n_test_bags", n_test_bags, minimum=1)
    return DataSource(training, load_dataset(data, split="test", **test_options))


def _read_folder(path: Path, options: dict[str, Any]) -> DataSource:
    """Read a folder of bags, or a folder of images."""
    if not (path / MANIFEST).exists():
        if any(file.suffix.lower() in IMAGE_SUFFIXES for file in path.rglob("*")):
            return _read_images(path, options)
        raise InputError(
            f"{path} contains neither bags (it has no {MANIFEST}) nor images ({', '.join(IMAGE_SUFFIXES)}); check the "
            "path"
        )
    if options:
        listed = " ".join(f"--data-option {name}={value}" for name, value in options.items())
        raise InputError(f"{path} is a folder of bags, which has no options; leave out {listed}")
    return read_folder(path, lambda opened: DataSource(load_bags(opened), None, read_empty_bags(opened)))


def _read_images(path: Path, options: dict[str, Any]) -> DataSource:
    for name, value in options.items():
        if name not in ImageTiling._fields:
            raise InputError(f"{path}: images have no option '{name}'; {suggest_name(name, ImageTiling._fields)}")
        if not isinstance(value, int | float):
            raise InputError(f"{path}: {name} must be a number, got {value!r}; pass e.g. --data-option {name}=32")
    if "size" not in options:
        raise InputError(f"{path} contains images; pass the side of a tile in pixels, e.g. --data-option size=32")
    found = load_image_bags(path, ImageTiling(**options))
    return DataSource(found.bags, None, tuple(found.set_aside))


def _read_file(path: Path, options: dict[str, Any]) -> DataSource:
    if "size" in options:  # a csv list of images: file, label, group
        return _read_images(path, options)
    reader = READERS.get(path.suffix.lower())
    if reader is None:
        raise InputError(
            f"{path} is not a table that can be read; pass a file with one of the suffixes {', '.join(READERS)}, or a "
            "folder of bags"
        )
    known = inspect.signature(reader).parameters
    for name, value in options.items():
        if name not in known or name == "path":
            hint = suggest_name(name, [*known][1:]) if len(known) > 1 else "it has no options"
            raise InputError(f"{path} has no option '{name}'; {hint}")
        options[name] = _convert_option(path, name, value)
    return DataSource(reader(path, **options), None)


def _convert_option(path: Path, name: str, value: Any) -> Any:
    """Convert column names to strings: a column may be named 1, which was parsed as a number.

    Labels are separated by commas; a list of one name is one label whose name may contain a comma.
    """
    if name == "n_features":
        if not isinstance(value, int) or isinstance(value, bool):
            raise InputError(
                f"{path}: n_features must be a whole number, got {value!r}; pass e.g. --data-option n_features=100"
            )
        return value
    if name == "label" and isinstance(value, str) and "," in value:
        value = [column.strip() for column in value.split(",")]
    columns = [str(column) for column in value] if isinstance(value, list | tuple) else str(value)
    return columns[0] if name == "label" and isinstance(columns, list) and len(columns) == 1 else columns


def _find_beside(data: Path, path: str) -> str:
    """Return the path of a file given as an option, relative to the working directory or else to the folder of DATA."""
    return path if Path(path).exists() or not (data.parent / path).exists() else str(data.parent / path)


def _apply_splits(source: DataSource, path: str) -> DataSource:
    bags = source.training
    names = [bags.name(bag) for bag in range(len(bags))]
    training, validation, test = read_split_file(path).rows(names, Path(path))
    kept = bags[np.concatenate([training, validation])]
    return DataSource(training=kept, test=bags[test] if len(test) else None, set_aside=source.set_aside)
