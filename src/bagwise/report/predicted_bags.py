"""The predictions of a run for its test bags, read from its files."""

from typing import Any, NamedTuple

import numpy as np

from bagwise.runs import Run, read_label


class PredictedBags(NamedTuple):
    """The predictions of a run; targets and predicted values are encoded."""

    target: Any  # Target
    targets: np.ndarray  # (n_bags, ...)
    predicted: np.ndarray  # (n_bags, ...)
    outputs: np.ndarray  # (n_bags, n_outputs)
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
            predicted=run.target.encode_names([read_label(row, "predicted") for row in rows]),
            outputs=run.outputs,
            weights=run.weights,
            offsets=run.offsets,
            rows=rows,
        )

    @property
    def titles(self) -> list[str]:
        """Titles of the outputs: for classes, their names."""
        return [output.title for output in self.target.outputs]

    @property
    def shown(self) -> np.ndarray:
        """Index of the output that is shown for each bag."""
        return self.target.find_shown_outputs(self.predicted)
