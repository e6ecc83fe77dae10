"""The named data sets: loading one by its name with checked options, and describing its bags."""

import math
import numbers
import types
import typing
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from bagwise.arguments import choose_by_name, suggest_name
from bagwise.bags import Bags
from bagwise.data.datasets.benchmarks import load_ucsb_breast, make_classic_loader, make_extra_loader
from bagwise.data.datasets.breast import load_breast
from bagwise.data.datasets.colon import load_colon
from bagwise.data.datasets.digits import DIGIT_SPLITS, load_digit_bags
from bagwise.data.datasets.mnist_bags import MNIST_SPLITS, load_mnist_bags
from bagwise.data.datasets.needles import load_needles, load_wide_bags
from bagwise.data.datasets.origins import ORIGINS, Origin
from bagwise.errors import InputError

TYPE_NAMES: dict[Any, str] = {
    int: "an integer",
    float: "a finite number",
    str: "a string",
    list[int]: "a list of integers",
}
MAX_VALUE_LENGTH = 60  # of a value in a message


class DataSet(NamedTuple):
    """A named source of bags.

    Attributes
    ----------
    load : callable
        Returns the bags; its parameters are the options of the data set.
    splits : tuple of str
        Values of the option ``split``; empty if the data set has no predefined test bags.
    title : str
        One-line description of the bags and of the positive class.
    origin : Origin or None, default=None
        Public origin of the files; None if nothing has to be fetched.
    """

    load: Callable[..., Bags]
    splits: tuple[str, ...]
    title: str
    origin: Origin | None = None


def _make_fetched_dataset(name: str, load: Callable[..., Bags], title: str, splits: tuple[str, ...] = ()) -> DataSet:
    return DataSet(load=load, splits=splits, title=title, origin=ORIGINS[name])


CLASSIC_TITLES = {
    "musk1": "conformations of molecules; positive: smells of musk",
    "musk2": "conformations of molecules, a larger set; positive: smells of musk",
    "fox": "regions of photographs; positive: shows a fox",
    "tiger": "regions of photographs; positive: shows a tiger",
    "elephant": "regions of photographs; positive: shows an elephant",
}
EXTRA_TITLES = {
    "newsgroups-1": "newsgroup posts; positive: contains some on the topic",
    "newsgroups-2": "newsgroup posts on another topic; positive: contains some on the topic",
    "brown-creeper": "forest sounds; positive: contains a brown creeper's song",
    "mutagenesis-1": "bonds of molecules; positive: mutagenic",
    "protein": "segments of protein sequences; positive: belongs to the thioredoxin-fold family",
    "corel-beach": "regions of photographs; positive: shows a beach",
}
DATASETS: dict[str, DataSet] = {
    "digits": DataSet(load_digit_bags, DIGIT_SPLITS, "bags of real 8×8 handwritten digits; positive: contains a nine"),
    "needles": DataSet(load_needles, (), "synthetic bags of noise; positive: contains a few shifted instances"),
    "wide": DataSet(
        load_wide_bags, (), "few synthetic bags of 5,000 features; positive: contains a few shifted instances"
    ),
    **{name: _make_fetched_dataset(name, make_classic_loader(name), title) for name, title in CLASSIC_TITLES.items()},
    "mnist-bags": _make_fetched_dataset(
        "mnist-bags", load_mnist_bags, "bags of MNIST digits; positive: contains a nine", MNIST_SPLITS
    ),
    "breast-cancer": _make_fetched_dataset(
        "breast-cancer", load_breast, "32×32 tiles of breast tissue; positive: malignant"
    ),
    "colon-cancer": _make_fetched_dataset(
        "colon-cancer", load_colon, "27×27 patches of nuclei; positive: contains epithelial nuclei"
    ),
    "ucsb-breast": _make_fetched_dataset(
        "ucsb-breast", load_ucsb_breast, "features of breast tissue; positive: malignant"
    ),
    **{name: _make_fetched_dataset(name, make_extra_loader(name), title) for name, title in EXTRA_TITLES.items()},
}


def load_dataset(name: str, **options: Any) -> Bags:
    """Load a data set by its name.

    Parameters
    ----------
    name : str
        A key of ``DATASETS``; spaces, hyphens and underscores are equivalent.
    **options
        Parameters of the data set's loader, e.g. ``split`` and ``n_bags``; unset ones keep their defaults.

    Returns
    -------
    Bags

    Raises
    ------
    InputError
        If the name or an option is unknown, an option has a wrong value, or the data set is not in the data home.

    Examples
    --------
    >>> load_dataset("digits", split="test", n_bags=10).n_bags
    10
    """
    name = resolve_dataset_name(name)
    load = DATASETS[name].load
    check_dataset_options(name, load, options)
    return load(**options)


def resolve_dataset_name(name: str) -> str:
    """Return the canonical name of a data set.

    Parameters
    ----------
    name : str
        The name; case is ignored, and spaces, hyphens and underscores are equivalent.

    Returns
    -------
    str
        A key of ``DATASETS``.

    Raises
    ------
    InputError
        If the name is unknown.

    Examples
    --------
    >>> resolve_dataset_name("MNIST bags")
    'mnist-bags'
    """
    return choose_by_name(name, {known: known for known in DATASETS}, "data set")


def check_dataset_options(name: str, load: Callable[..., Any], options: dict[str, Any]) -> None:
    """Reject an option that the loader does not have, or a value of the wrong type.

    >>> def load(n_bags: int | None = None): ...
    >>> check_dataset_options("digits", load, {"n_bags": "many"})
    Traceback (most recent call last):
    bagwise.errors.InputError: digits: n_bags must be an integer, got 'many'
    """
    known = {option: hint for option, hint in typing.get_type_hints(load).items() if option != "return"}
    for option, value in options.items():
        if option not in known:
            hint = suggest_name(option, sorted(known)) if known else "it has no options"
            raise InputError(f"{name} has no option '{option}'; {hint}")
        accepted = _list_types(known[option])
        if not any(_is_instance(value, each) for each in accepted):
            expected = " or ".join(TYPE_NAMES[each] for each in accepted if each in TYPE_NAMES)
            raise InputError(f"{name}: {option} must be {expected}, got {_shorten(value)}")


def _list_types(hint: Any) -> tuple[Any, ...]:
    return typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)


def _is_instance(value: Any, expected: Any) -> bool:
    """Return whether a value has a type; a bool is not a number, and an integer is also a float."""
    if typing.get_origin(expected) is list:
        (inner,) = typing.get_args(expected)
        return isinstance(value, list | tuple) and all(_is_instance(each, inner) for each in value)
    if isinstance(value, bool):
        return False
    if expected is int:
        return isinstance(value, numbers.Integral)
    if expected is float:
        return isinstance(value, numbers.Real) and _is_finite(value)
    return isinstance(value, expected)


def _is_finite(value: numbers.Real) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer too large for a float
        return False


def _shorten(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= MAX_VALUE_LENGTH else text[:MAX_VALUE_LENGTH] + "…"


def describe_bags(bags: Bags) -> dict[str, Any]:
    """Count bags, instances, labels and groups, and summarise the bag sizes.

    Parameters
    ----------
    bags : Bags
        The bags to describe.

    Returns
    -------
    dict
        JSON-compatible, with the keys ``n_bags``, ``labels``, ``n_instances``, ``instance_shape``, ``instance_type``,
        ``instance_labels``, ``bag_sizes``, ``n_groups`` and ``megabytes``.

    Examples
    --------
    >>> describe_bags(Bags.from_list([[[1.0]], [[2.0], [3.0]]], labels=[0, 1]))["labels"]
    {'0': 1, '1': 1}
    """
    sizes = bags.sizes
    return {
        "n_bags": bags.n_bags,
        "labels": _count_values(bags.labels),
        "n_instances": bags.n_instances,
        "instance_shape": list(bags.instance_shape),
        "instance_type": str(bags.dtype),
        "instance_labels": _count_values(bags.instance_labels),
        "bag_sizes": {
            "min": int(sizes.min()),
            "median": float(np.median(sizes)),
            "mean": float(sizes.mean()),
            "max": int(sizes.max()),
        },
        "n_groups": None if bags.groups is None else len(np.unique(bags.groups)),
        "megabytes": round(bags.nbytes / 1e6, 1),
    }


def _count_values(values: np.ndarray | None) -> dict[str, int] | None:
    if values is None:
        return None
    unique, counts = np.unique(values, return_counts=True)
    return {str(value): int(count) for value, count in zip(unique, counts, strict=True)}
