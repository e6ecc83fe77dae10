"""A task: bags with what is to be learned of them."""

from typing import NamedTuple

import numpy as np

from bagwise.bags import Bags


class Task(NamedTuple):
    """Bags, the class of each, and how much each counts."""

    bags: Bags
    targets: np.ndarray  # (bags,) class numbers
    importance: np.ndarray  # (bags,) factor on each bag's loss; 1 without class balancing
