"""Validation of estimator input: conversion of bags and labels from the types that scikit-learn users pass."""

import warnings
from collections.abc import Sequence
from typing import Any, TypeGuard

import numpy as np
import numpy.typing as npt

from bagwise.arguments import describe_value
from bagwise.bags import Bags, align_features
from bagwise.errors import InputError

BagsLike = Bags | Sequence[npt.ArrayLike] | npt.ArrayLike  # types that estimators accept as X
ValidationBags = tuple[BagsLike, npt.ArrayLike]  # bags and their labels
PARTIAL_FIT = (
    "{name} has no partial_fit: it is fitted to all bags at once, which may be larger than memory (bagwise.load_bags). "
    "To resume a network, pass fit(..., checkpoint=FILE); to start from the weights of another, pass its parts, e.g. "
    "BagClassifier(encoder=model.model_.encoder)"
)


def check_validation_bags(validation: Any) -> tuple[Any, Any]:
    """Check that the argument ``validation`` of ``fit`` is a pair of bags and labels, and return it."""
    if isinstance(validation, tuple | list) and len(validation) == 2:
        bags, labels = validation
        return bags, labels
    what = describe_value(validation) if isinstance(validation, int | float | str) else type(validation).__name__
    raise InputError(
        f"the argument validation of fit is {what}; it must be (bags, labels), e.g. validation=(other, other.labels); "
        "a share or a number of folds is a parameter: BagClassifier(validation=0.2)"
    )


def as_bags(X: BagsLike) -> Bags:
    """Convert estimator input to ``Bags``.

    Parameters
    ----------
    X : Bags, list of array-like, or array-like of shape (n_bags, n_features)
        ``Bags``, which are returned unchanged; a list with one array, data frame or sparse matrix of shape
        (n_instances, …) per bag; an array of shape (n_bags, n_instances, …), for bags of equal size; or a 2-D array, in
        which each row becomes a bag with one instance.

    Returns
    -------
    Bags
        The bags.

    Examples
    --------
    >>> as_bags([np.zeros((2, 3)), np.zeros((4, 3))]).sizes, as_bags(np.zeros((2, 3))).sizes
    (array([2, 4]), array([1, 1]))
    >>> as_bags(np.zeros((2, 5, 3))).sizes
    array([5, 5])
    """
    packed = pack_bags(X)
    return packed if isinstance(packed, Bags) else make_singleton_bags(np.asarray(packed))


def pack_bags(X: BagsLike) -> Any:
    """Pack lists of bags, and arrays of bags of equal size; return other input, such as 2-D arrays, unchanged."""
    if isinstance(X, np.ndarray) and X.ndim >= 3 and 0 not in X.shape:
        n_bags, size, *row_shape = X.shape
        return Bags(X.reshape(n_bags * size, *row_shape), np.arange(0, n_bags * size + 1, size))
    return Bags.from_list(X) if is_list_of_bags(X) else X


def is_list_of_bags(X: BagsLike) -> TypeGuard[Sequence[npt.ArrayLike]]:
    """Return whether the input is a list (or object array) of arrays with at least two axes, and not a 2-D array.

    >>> is_list_of_bags([np.zeros((2, 3))]), is_list_of_bags([[1.0, 2.0], [3.0, 4.0]])
    (True, False)
    """
    if isinstance(X, np.ndarray) and (X.dtype != object or X.ndim != 1):
        return False
    if not isinstance(X, list | tuple | np.ndarray) or len(X) == 0:
        return False
    return any(_may_be_bag(bag) for bag in X)


def _may_be_bag(bag: Any) -> bool:
    """Return whether a value is an array with at least two axes, or a list of lists, which may be ragged."""
    if isinstance(bag, list | tuple):
        return len(bag) > 0 and isinstance(bag[0], list | tuple | np.ndarray)
    return getattr(bag, "ndim", 0) >= 2


def make_singleton_bags(rows: np.ndarray) -> Bags:
    """Turn each row of a 2-D array into a bag with one instance."""
    return Bags(rows, np.arange(len(rows) + 1))


def check_sample_weight(sample_weight: npt.ArrayLike | None, n_bags: int) -> np.ndarray | None:
    """Return the weights of bags as an array; None if there are none.

    >>> check_sample_weight([1, 0], 2)
    array([1., 0.])
    """
    if sample_weight is None:
        return None
    try:
        weights = np.array(sample_weight, dtype=float)
    except (TypeError, ValueError) as error:
        raise InputError(f"sample_weight is not numeric ({error}); give one number per bag") from None
    if weights.shape != (n_bags,):
        raise InputError(f"sample_weight has shape {weights.shape} for {n_bags} bags; give one number per bag")
    if not np.isfinite(weights).all() or (weights < 0).any():
        bag = int(np.argmin(np.isfinite(weights) & (weights >= 0)))
        raise InputError(f"the sample_weight of bag {bag} is {weights[bag]}; weights must be finite and at least 0")
    if not weights.any():
        raise InputError("every sample_weight is zero, so nothing could be learned; give some bags a weight above zero")
    return weights


def describe_shape(shape: tuple[int, ...]) -> str:
    """Describe the shape of an instance for a message.

    >>> describe_shape((5,)), describe_shape((8, 8))
    ('5 features', 'images of 8×8')
    """
    return f"{shape[0]} features" if len(shape) == 1 else "images of " + "×".join(map(str, shape))


def set_feature_names(estimator: Any, names: Sequence[str] | None) -> None:
    """Set ``feature_names_in_``, or remove it if the training bags have no feature names."""
    if names is not None:
        estimator.feature_names_in_ = np.array(names, dtype=object)
    elif hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_


def match_features(estimator: Any, bags: Bags) -> Bags:
    """Return bags with the features of the training bags in their order; warn if only one of the two has names."""
    names = getattr(estimator, "feature_names_in_", None)
    if names is not None and bags.feature_names is not None:
        return align_features(bags, names.tolist())
    if names is not None or bags.feature_names is not None:
        which = "training bags" if bags.feature_names is None else "bags to predict"
        warnings.warn(
            f"only the {which} have feature names, so features are matched by their position; pass bags with "
            "feature_names to match them by name",
            stacklevel=4,
        )
    return bags
