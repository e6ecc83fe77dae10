"""What a network is trained on, and by what its best epoch is chosen, with the factor of each bag on the loss."""

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import compute_class_weight

from bagwise.bags import Bags
from bagwise.errors import InputError
from bagwise.splits import hold_out
from bagwise.training import Task


class Known(NamedTuple):
    """Bags whose classes are known."""

    bags: Bags
    targets: np.ndarray  # numbers of classes


def part(known: Known, share: float, seed: int) -> tuple[Known, Known]:
    """The bags to train on, and a share of them held out, by class and by group."""
    kept, held = hold_out(known.targets, known.bags.groups, share, seed)
    return Known(known.bags[kept], known.targets[kept]), Known(known.bags[held], known.targets[held])


def tasks(training: Known, held: Known | None, classes: np.ndarray, class_weight: Any) -> tuple[Task, Task | None]:
    """Both with the factors that follow from the training bags."""
    factors = class_factors(training.targets, classes, class_weight)
    made = [None if each is None else Task(*each, factors[each.targets]) for each in (training, held)]
    assert made[0] is not None
    return made[0], made[1]


def class_factors(targets: np.ndarray, classes: np.ndarray, class_weight: Any) -> np.ndarray:
    """Factor of each class on the loss of its bags.

    >>> class_factors(np.array([0, 1, 1, 1]), np.array(["no", "yes"]), {"no": 3, "yes": 1}).tolist()
    [3.0, 1.0]
    """
    try:
        factors = compute_class_weight(class_weight, classes=classes, y=classes[targets])
    except (TypeError, ValueError) as error:
        raise InputError(f"class_weight: {error}; give None, 'balanced', or a factor for each class") from None
    return factors.astype(np.float32)
