"""What estimators take for bags and for labels, in the forms that scikit-learn's users have at hand."""

from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from bagwise.bags import Bags
from bagwise.errors import InputError


def is_list_of_bags(X: Any) -> bool:
    """Whether this is a list (or object array) of two- or more-dimensional arrays, rather than a 2-D array.

    >>> is_list_of_bags([np.zeros((2, 3))]), is_list_of_bags([[1.0, 2.0], [3.0, 4.0]])
    (True, False)
    """
    if isinstance(X, np.ndarray) and (X.dtype != object or X.ndim != 1):
        return False
    if not isinstance(X, list | tuple | np.ndarray) or len(X) == 0:
        return False
    return any(_is_table(each) for each in X)


def _is_table(bag: Any) -> bool:
    """Whether this could be a bag: an array of two axes or more, or a list of lists, which may be ragged."""
    if isinstance(bag, list | tuple):
        return len(bag) > 0 and isinstance(bag[0], list | tuple | np.ndarray)
    return getattr(bag, "ndim", 0) >= 2


def as_bags(X: Any) -> Bags:
    """Bags in any of the forms that estimators take."""
    if isinstance(X, Bags):
        return X
    return Bags.from_list(X) if is_list_of_bags(X) else rows_as_bags(np.asarray(X))


def rows_as_bags(rows: np.ndarray) -> Bags:
    """Each row of a 2-D array as a bag of one instance."""
    return Bags(rows, np.arange(len(rows) + 1))


def class_numbers(y: Any, n_bags: int) -> tuple[np.ndarray, np.ndarray]:
    """The classes in rising order, and the number of each bag's class.

    >>> class_numbers(["no", "yes", "no"], 3)[1]
    array([0, 1, 0])
    """
    labels = one_a_bag(y, n_bags)
    try:
        check_classification_targets(labels)
        classes, numbers = np.unique(labels, return_inverse=True)
    except (TypeError, ValueError) as error:
        raise InputError(f"y does not name classes ({error}); give whole numbers or words, all of one type") from None
    return classes, numbers.astype(np.int64)


def known_class_numbers(y: Any, classes: np.ndarray, n_bags: int) -> np.ndarray:
    """The number of each bag's class among the classes a model was trained on."""
    labels = one_a_bag(y, n_bags)
    numbers = {label: number for number, label in enumerate(classes.tolist())}
    unknown = {repr(label): None for label in labels.tolist() if label not in numbers}
    if unknown:
        known = ", ".join(map(repr, classes.tolist()))
        raise InputError(f"labels {', '.join(unknown)} are unknown to the model, which was trained on: {known}")
    return np.array([numbers[label] for label in labels.tolist()], dtype=np.int64)


def one_a_bag(y: Any, n_bags: int) -> np.ndarray:
    """Labels as a one-dimensional array of that length."""
    try:
        labels = column_or_1d(np.asarray(y), warn=True)
    except ValueError as error:
        raise InputError(f"{error}; y holds one label a bag") from None
    if len(labels) != n_bags:
        raise InputError(f"y holds {len(labels)} labels for {n_bags} bags; give one for each bag, in their order")
    return labels
