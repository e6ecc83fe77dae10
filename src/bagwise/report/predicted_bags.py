"""The predictions of a run for its test bags, read from its files."""

from typing import NamedTuple

import numpy as np

from bagwise.runs import Run


class PredictedBags(NamedTuple):
    """The predictions of a run; targets and predicted classes are indices into ``classes``."""

    classes: list[str]
    targets: np.ndarray  # (n_bags,)
    predicted: np.ndarray  # (n_bags,)
    probabilities: np.ndarray  # (n_bags, n_classes)
    weights: np.ndarray  # (n_instances,)
    offsets: np.ndarray  # (n_bags + 1,)
    rows: list[dict[str, str]]  # rows of predictions.csv

    @classmethod
    def read(cls, run: Run) -> "PredictedBags":
        """Read the predictions of a run."""
        classes, rows = run.classes, run.predictions
        return cls(
            classes=classes,
            targets=run.targets,
            predicted=np.array([classes.index(row["predicted"]) for row in rows], dtype=int),
            probabilities=run.probabilities,
            weights=run.weights,
            offsets=run.offsets,
            rows=rows,
        )

    @property
    def two_classes(self) -> bool:
        """Whether there are two classes, of which the second is the positive one."""
        return len(self.classes) == 2
