"""The predictions of a saved model for other bags, in memory, with the attributes of a run that explanations use."""

from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from bagwise.bags import Bags
from bagwise.data import open_source
from bagwise.estimators import BagEstimator
from bagwise.runs.predictions import make_prediction_rows
from bagwise.runs.run import load_model

UNKNOWN = "unknown"  # label of bags without labels


class ModelPredictions:
    """The predictions of a model for the bags of a data source; nothing is written.

    Parameters
    ----------
    folder : str or Path
        Folder of a saved model, of an exported model, or of a run.
    data : str
        Name or path of the data; labels are not needed.
    **options
        Options of the data source.

    Attributes
    ----------
    folder : Path
        Folder of the model.
    parameters : dict
        ``{"data": {"data": …, "options": …}}``.
    target : Target
        The target of the model.
    predictions : list of dict
        One dictionary per bag, as in predictions.csv; the label of bags without labels is "unknown".
    weights : ndarray of shape (n_instances,)
        Weights of the instances.
    offsets : ndarray of shape (n_bags + 1,)
        Start of each bag in ``weights``, and the end.
    """

    def __init__(self, folder: str | Path, data: str, **options: Any) -> None:
        self.folder = Path(folder)
        self.parameters: dict[str, Any] = {"data": {"data": data, "options": options}}
        self._model: BagEstimator = load_model(folder)
        self._bags = open_source(data, **options).prediction_bags
        self.target = self._model.target_
        self.offsets = self._bags.offsets

    def test_bags(self) -> Bags:
        """Return the bags.

        Returns
        -------
        Bags
        """
        return self._bags

    @property
    def weights(self) -> np.ndarray:
        return self._predicted.weights

    @cached_property
    def predictions(self) -> list[dict[str, str]]:
        model, labels = self._model, self._bags.labels
        rows = make_prediction_rows(self.target, self._bags, self._predicted.outputs, labels, model.decision_threshold)
        unknown = {"label": UNKNOWN} if labels is None else {}
        return [{**unknown, **{name: str(value) for name, value in row.items()}} for row in rows]

    @cached_property
    def _predicted(self) -> Any:
        return self._model.predict_with_weights(self._bags)
