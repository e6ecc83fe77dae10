"""Leaks of the label into the features: a feature that takes one value per class, or that equals the label.

Such a feature is usually a column of the table that was forgotten, such as a second coding of the outcome.
"""

import shlex
import warnings

import numpy as np

from bagwise.bags import Bags

MIN_BAGS = 5  # of each label; with fewer bags, a feature takes one value per class by chance
MAX_LISTED = 5
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
