"""Leaks of the label into the features: a feature that takes one value per class, or that is named like a label.

Such a feature is usually a column of the table that was forgotten, such as a second coding of the outcome.
"""

import shlex
import warnings

import numpy as np

from bagwise.bags import Bags, list_candidates

MIN_BAGS = 5  # of each label; with fewer bags, a feature takes one value per class by chance
MAX_LISTED = 5
MAX_BAGS = 100  # in which a feature that is named like a label is looked at
VALUES_PER_BLOCK = 1 << 20


def warn_of_leaks(bags: Bags, targets: np.ndarray) -> None:
    """Warn of the features that give the label away; they are named.

    Parameters
    ----------
    bags : Bags
        Training bags.
    targets : ndarray of shape (n_bags, ...)
        Their encoded targets.
    """
    leaks = find_leaks(bags, targets)
    for column in np.setdiff1d(find_further_labels(bags), leaks):
        name = bags.feature_names[column]  # type: ignore[index]
        option = shlex.quote(f"drop={name}")
        warnings.warn(
            f"feature '{name}' of the training bags has the name of a label, and one value per bag; if it is another "
            f"label, drop the column with --data-option {option}",
            stacklevel=4,
        )
    if len(leaks) == 0:
        return
    names = [f"'{bags.feature_names[leak]}'" if bags.feature_names else f"number {leak}" for leak in leaks[:MAX_LISTED]]
    more = f" and {len(leaks) - MAX_LISTED} more" if len(leaks) > MAX_LISTED else ""
    are_many = len(leaks) > 1
    option = shlex.quote(f"drop={bags.feature_names[leaks[0]]}") if bags.feature_names else "drop=NAME"
    warnings.warn(
        f"{'features' if are_many else 'feature'} {', '.join(names)}{more} of the training bags "
        f"{'determine' if are_many else 'determines'} the label: one value for each label, in every instance. A model "
        "that uses such a feature is worthless unless the feature is known before the label; drop the column with "
        f"--data-option {option}",
        stacklevel=4,
    )


def find_leaks(bags: Bags, targets: np.ndarray) -> np.ndarray:
    """Find the features that take one value per label, and not the same value for all labels.

    Bags are read only as long as a feature can still be a leak, which is usually over after a few instances.

    Parameters
    ----------
    bags : Bags
        Training bags of vectors; for images, nothing is found.
    targets : ndarray of shape (n_bags, ...)
        Their encoded targets.

    Returns
    -------
    ndarray of int
        Columns of the features, in increasing order.

    Examples
    --------
    >>> labels = np.arange(12) % 2
    >>> bags = Bags.from_list([[[7.0, label], [8.0, label]] for label in labels])
    >>> find_leaks(bags, labels)
    array([1])
    """
    nothing = np.array([], dtype=int)
    if len(bags.instance_shape) != 1:
        return nothing
    labels, numbers, counts = np.unique(
        targets.reshape(len(targets), -1), axis=0, return_inverse=True, return_counts=True
    )
    if len(labels) < 2 or counts.min() < MIN_BAGS:
        return nothing
    columns = np.arange(bags.instance_shape[0])
    values = np.empty((len(labels), len(columns)))
    for label in range(len(labels)):
        members = bags[np.flatnonzero(numbers.ravel() == label)]
        values[label] = members.view()[:1][0]
        for block in members.iterate_blocks(max(1, VALUES_PER_BLOCK // len(values[label]))):
            is_constant = (block[:, columns] == values[label, columns]).all(axis=0)
            columns = columns[is_constant]
            if len(columns) == 0:
                return nothing
    return columns[(values[:, columns] != values[0, columns]).any(axis=0)]


def find_further_labels(bags: Bags) -> np.ndarray:
    """Find the features with a usual name of a label that have one value per bag, unlike a coordinate ``y``.

    Parameters
    ----------
    bags : Bags
        Training bags; the first hundred are read, if a feature has such a name.

    Returns
    -------
    ndarray of int
        Columns of the features, in increasing order.

    Examples
    --------
    >>> rows = [[[7.0, 0.0, 0.5], [8.0, 0.0, 0.7]], [[9.0, 1.0, 0.2]]]
    >>> find_further_labels(Bags.from_list(rows, feature_names=("mass", "target", "y")))
    array([1])
    """
    named = list_candidates(bags.feature_names or (), "label")
    columns = np.flatnonzero(np.isin(bags.feature_names or (), named))
    first = bags[:MAX_BAGS]
    if len(columns) == 0 or first.sizes.max() == 1:
        return columns[:0]
    blocks = first.iterate_blocks(max(1, VALUES_PER_BLOCK // len(bags.feature_names)))  # type: ignore[arg-type]
    values = np.concatenate([block[:, columns] for block in blocks])
    starts = values[np.repeat(first.offsets[:-1], first.sizes)]
    return columns[(values == starts).all(axis=0)]
