"""Validation of estimator input: conversion of bags and labels from the types that scikit-learn users pass."""

from collections.abc import Sequence
from typing import Any, TypeGuard

import numpy as np
import numpy.typing as npt
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from bagwise.bags import Bags
from bagwise.errors import InputError

BagsLike = Bags | Sequence[npt.ArrayLike] | npt.ArrayLike  # types that estimators accept as X
ValidationBags = tuple[BagsLike, npt.ArrayLike]  # bags and their labels


def as_bags(X: BagsLike) -> Bags:
    """Convert estimator input to ``Bags``.

    Parameters
    ----------
    X : Bags, list of array-like, or array-like of shape (n_bags, n_features)
        ``Bags``, which are returned unchanged; a list with one array of shape (n_instances, …) per bag; or a 2-D array,
        in which each row becomes a bag with one instance.

    Returns
    -------
    Bags
        The bags.

    Examples
    --------
    >>> as_bags([np.zeros((2, 3)), np.zeros((4, 3))]).sizes, as_bags(np.zeros((2, 3))).sizes
    (array([2, 4]), array([1, 1]))
    """
    if isinstance(X, Bags):
        return X
    return Bags.from_list(X) if is_list_of_bags(X) else make_singleton_bags(np.asarray(X))


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


def encode_labels(y: npt.ArrayLike, n_bags: int) -> tuple[np.ndarray, np.ndarray]:
    """Encode labels as class numbers.

    Parameters
    ----------
    y : array-like of shape (n_bags,)
        One label per bag: integers, strings or booleans, all of one type.
    n_bags : int
        Expected number of labels.

    Returns
    -------
    classes : ndarray of shape (n_classes,)
        The distinct labels in increasing order.
    targets : ndarray of shape (n_bags,)
        The index in ``classes`` of each label.

    Raises
    ------
    InputError
        If the number of labels differs from ``n_bags``, or the labels are not classes.

    Examples
    --------
    >>> encode_labels(["no", "yes", "no"], 3)[1]
    array([0, 1, 0])
    """
    labels = _check_label_count(y, n_bags)
    try:
        check_classification_targets(labels)
        classes, targets = np.unique(labels, return_inverse=True)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"y does not contain class labels ({error}); pass whole numbers or strings, all of one type"
        ) from None
    return classes, targets.astype(np.int64)


def encode_known_labels(y: npt.ArrayLike, classes: np.ndarray, n_bags: int) -> np.ndarray:
    """Encode labels as class numbers of a fitted model.

    Parameters
    ----------
    y : array-like of shape (n_bags,)
        One label per bag.
    classes : ndarray of shape (n_classes,)
        The classes of the model.
    n_bags : int
        Expected number of labels.

    Returns
    -------
    ndarray of shape (n_bags,)
        The index in ``classes`` of each label.

    Raises
    ------
    InputError
        If the number of labels differs from ``n_bags``, or a label is not in ``classes``.
    """
    labels = _check_label_count(y, n_bags)
    number_by_label = {label: number for number, label in enumerate(classes.tolist())}
    unknown = {repr(label): None for label in labels.tolist() if label not in number_by_label}
    if unknown:
        known = ", ".join(map(repr, classes.tolist()))
        raise InputError(f"labels {', '.join(unknown)} are unknown to the model, which was trained on: {known}")
    return np.array([number_by_label[label] for label in labels.tolist()], dtype=np.int64)


def _check_label_count(y: npt.ArrayLike, n_bags: int) -> np.ndarray:
    try:
        labels = column_or_1d(np.asarray(y), warn=True)
    except ValueError as error:
        raise InputError(f"{error}; y must contain one label per bag") from None
    if len(labels) != n_bags:
        raise InputError(f"y has {len(labels)} labels for {n_bags} bags; pass one label per bag, in the same order")
    return labels
