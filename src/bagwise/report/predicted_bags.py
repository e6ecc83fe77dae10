"""The predictions of a run for its test bags, read from its files."""

from typing import Any, NamedTuple

import numpy as np

from bagwise.runs import Run


class PredictedBags(NamedTuple):
    """The predictions of a run; targets and predicted classes are indices into ``classes``."""

    target: Any  # Target
    targets: np.ndarray  # (n_bags,)
    predicted: np.ndarray  # (n_bags,)
    probabilities: np.ndarray  # (n_bags, n_classes)
    weights: np.ndarray  # (n_instances,)
    offsets: np.ndarray  # (n_bags + 1,)
    rows: list[dict[str, str]]  # rows of predictions.csv

    @classmethod
    def read(cls, run: Run) -> "PredictedBags":
        """Read the predictions of a run."""
        rows = run.predictions
        return cls(
            target=run.target,
            targets=run.targets,
            predicted=run.target.encode_names([row["predicted"] for row in rows]),
            probabilities=run.probabilities,
            weights=run.weights,
            offsets=run.offsets,
            rows=rows,
        )

    @property
    def classes(self) -> list[str]:
        """Names of the classes."""
        return self.target.names

    @property
    def is_binary(self) -> bool:
        """Whether there are two classes, one of which is positive."""
        return self.target.is_binary

    @property
    def positive(self) -> int:
        """Index of the positive one of two classes."""
        return self.target.positive
