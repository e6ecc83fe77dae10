"""What a run says of its test bags, read once from its files; nothing is predicted again."""

from typing import Any, NamedTuple

import numpy as np

from bagwise.runs import Run

Plain = dict[str, Any]  # numbers, words and lists: it can be written as JSON


class Judged(NamedTuple):
    """What the run says of its test bags; classes are numbers of ``classes``."""

    classes: list[str]
    targets: np.ndarray
    predicted: np.ndarray
    probabilities: np.ndarray  # (n_bags, n_classes)
    weights: np.ndarray  # (n_instances,)
    offsets: np.ndarray
    rows: list[dict[str, str]]  # predictions.csv

    @classmethod
    def read(cls, run: Run) -> "Judged":
        """Read it all once."""
        classes, rows = run.classes, run.predictions
        predicted = np.array([classes.index(row["predicted"]) for row in rows], dtype=int)
        return cls(classes, run.targets, predicted, run.probabilities, run.weights, run.offsets, rows)

    @property
    def two_classes(self) -> bool:
        """Whether the second class is the positive one, of which everything speaks."""
        return len(self.classes) == 2
