"""Names of features: validation, and alignment of bags whose features are the same in another order."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from bagwise.bags.checks import PER_BAG, PER_INSTANCE
from bagwise.errors import InputError

MAX_LISTED = 5  # names in an error message

FeatureNames = tuple[str, ...]


def check_feature_names(names: Any, row_shape: tuple[int, ...]) -> FeatureNames | None:
    """Return feature names as a tuple of strings; None if there are none.

    Parameters
    ----------
    names : sequence of str or None
        One unique name per feature.
    row_shape : tuple of int
        Shape of an instance.

    Returns
    -------
    tuple of str or None

    Raises
    ------
    InputError
        If there is not one unique name per feature, or if instances are images.

    Examples
    --------
    >>> check_feature_names(["age", "size"], (2,))
    ('age', 'size')
    """
    if names is None:
        return None
    if len(row_shape) != 1:
        raise InputError(f"feature_names are for vectors, but an instance has shape {row_shape}; leave them out")
    if isinstance(names, str) or not all(isinstance(name, str) for name in names):
        raise InputError("feature_names must be a sequence of strings, one per feature; convert other names with str()")
    if len(names) != row_shape[0]:
        raise InputError(f"there are {len(names)} feature_names for {row_shape[0]} features; give one per feature")
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise InputError(f"the feature name '{repeated[0]}' occurs more than once; rename all but one of the features")
    return tuple(map(str, names))


def find_columns(names: FeatureNames, wanted: Sequence[str], whose: str = "the model") -> np.ndarray:
    """Find the columns with the wanted names, in the wanted order.

    Parameters
    ----------
    names : tuple of str
        Names of the columns that there are.
    wanted : sequence of str
        Names of the columns that are needed.
    whose : str, default="the model"
        What needs them, for messages.

    Returns
    -------
    ndarray of int, of shape (n_wanted,)

    Raises
    ------
    InputError
        If a wanted column is missing, or if there are columns that are not wanted.

    Examples
    --------
    >>> find_columns(("size", "age"), ["age", "size"])
    array([1, 0])
    """
    column_by_name = {name: column for column, name in enumerate(names)}
    missing = [name for name in wanted if name not in column_by_name]
    unknown = sorted(column_by_name.keys() - {*wanted})
    if missing or unknown:
        found = {"missing": missing, "unknown": unknown}
        listed = "; ".join(f"{what}: {join_names(which)}" for what, which in found.items() if which)
        raise InputError(
            f"the bags do not have the features of {whose} ({listed}); rename the columns, or prepare the data as for "
            "training. To match features by position, remove the names: bags.replace(feature_names=None)"
        )
    return np.array([column_by_name[name] for name in wanted])


def align_features(bags: Any, names: Sequence[str], whose: str = "the model") -> Any:
    """Return bags with their features in another order; no instance is copied until it is read.

    Parameters
    ----------
    bags : Bags
        Any bags.
    names : sequence of str
        All feature names, in the wanted order.
    whose : str, default="the model"
        What has these features, for messages.

    Returns
    -------
    Bags
        The same bags if they have no feature names, or if the order is the same.

    Raises
    ------
    InputError
        If features are missing or unknown; the message names them.

    Examples
    --------
    >>> from bagwise import Bags
    >>> bags = Bags.from_list([[[1.0, 2.0]]], feature_names=["size", "age"])
    >>> align_features(bags, ["age", "size"]).instances
    array([[2., 1.]])
    """
    wanted = tuple(names)
    if bags.feature_names is None or bags.feature_names == wanted:
        return bags
    columns = find_columns(bags.feature_names, wanted, whose)
    fields = {name: getattr(bags, name) for name in (*PER_BAG, "extractor")}
    fields |= {name: bags.view(name) for name in PER_INSTANCE}
    return type(bags).trusted(
        bags.offsets, instances=bags.view().select_columns(columns), feature_names=wanted, **fields
    )


def join_names(names: Sequence[str]) -> str:
    """Join a few names for a message.

    >>> join_names(["a", "b"])
    "'a', 'b'"
    """
    more = f" and {len(names) - MAX_LISTED} more" if len(names) > MAX_LISTED else ""
    return ", ".join(f"'{name}'" for name in names[:MAX_LISTED]) + more
