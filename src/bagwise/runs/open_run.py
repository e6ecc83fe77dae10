"""A run opened for inspection, with its test bags and model; and runs that differ only in their seed."""

import threading
from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from bagwise.arguments import suggest_name
from bagwise.bags import Bags
from bagwise.errors import InputError
from bagwise.estimators import BagEstimator
from bagwise.io import JsonObject
from bagwise.runs.model_predictions import ModelPredictions
from bagwise.runs.run import Run, load_model


class OpenedBags(NamedTuple):
    """The test bags, or the reason why they cannot be opened."""

    bags: Bags | None
    missing: str | None


class OpenRun:
    """A run with its test bags and model, which are opened on first use and then kept in memory. Thread-safe.

    Parameters
    ----------
    run : Run or ModelPredictions
        The run, or the predictions of a model for other bags.

    Attributes
    ----------
    run : Run or ModelPredictions
        The run, or the predictions of a model for other bags.
    prediction_lock : threading.Lock
        Callers acquire it while they use the model: concurrent predictions would only be slower.
    opened : OpenedBags
        The test bags, or the reason why they cannot be opened.
    model : BagEstimator
        The fitted model.
    """

    def __init__(self, run: Run | ModelPredictions) -> None:
        self.run: Any = run
        self.prediction_lock = threading.Lock()
        self._lock = threading.RLock()

    @property
    def opened(self) -> OpenedBags:
        with self._lock:
            return self._opened

    @property
    def model(self) -> BagEstimator:
        with self._lock:
            return self._model

    def number(self, name: str) -> int:
        """Find the index of a test bag by its name.

        Parameters
        ----------
        name : str
            Name of the bag.

        Returns
        -------
        int

        Raises
        ------
        InputError
            If there is no such bag.
        """
        names = [row["bag"] for row in self.run.predictions]
        if name not in names:
            raise InputError(f"{self.run.folder} has no test bag '{name}'; {suggest_name(name, names)}")
        return names.index(name)

    def rows(self, bag: int) -> slice:
        """Return the rows of a bag's instances among those of all test bags.

        Parameters
        ----------
        bag : int
            Index of the bag.

        Returns
        -------
        slice
        """
        return slice(int(self._offsets[bag]), int(self._offsets[bag + 1]))

    def bag(self, bag: int) -> Bags:
        """Return one test bag.

        Parameters
        ----------
        bag : int
            Index of the bag.

        Returns
        -------
        Bags
            A single bag.

        Raises
        ------
        InputError
            If the data cannot be opened.
        """
        bags, missing = self.opened
        if bags is None:
            raise InputError(missing)
        return bags[[bag]]

    @cached_property
    def _offsets(self) -> list[int]:
        return self.run.offsets.tolist()

    @cached_property
    def _opened(self) -> OpenedBags:
        try:
            return OpenedBags(self.run.test_bags(), None)
        except (InputError, OSError) as error:
            return OpenedBags(None, str(error))

    @cached_property
    def _model(self) -> BagEstimator:
        return load_model(self.run.folder)


def find_other_seeds(runs: Sequence[Run]) -> list[list[int]]:
    """Find, for each run, the runs that differ from it only in their seed and have the same test bags.

    Runs with different split seeds match if their test bags are the same. Of several runs with the same seed, which are
    copies of each other, only the first is listed.

    Parameters
    ----------
    runs : sequence of Run
        The runs to compare.

    Returns
    -------
    list of list of int
        For each run, the indices of the matching runs in ``runs``.
    """
    descriptions, seeds = [_describe_without_seed(run) for run in runs], [_get_seed(run) for run in runs]
    first_by_seed = [
        {seeds[index]: index for index in _find_equal(descriptions, description)[::-1]} for description in descriptions
    ]
    return [
        sorted(index for other_seed, index in indices.items() if other_seed != seed)
        for indices, seed in zip(first_by_seed, seeds, strict=True)
    ]


def _find_equal(descriptions: list[JsonObject], description: JsonObject) -> list[int]:
    return [index for index, other in enumerate(descriptions) if other == description]


def _get_seed(run: Run) -> int | None:
    return run.parameters["parameters"]["random_state"]


def _describe_without_seed(run: Run) -> JsonObject:
    parameters = {name: value for name, value in run.parameters["parameters"].items() if name != "random_state"}
    data = {name: value for name, value in run.parameters["data"].items() if name != "split_seed"}
    return {**run.parameters, "data": data, "parameters": parameters, "test_bags": run.manifest.get("test_bags")}


def compute_weight_spread(weights: Sequence[np.ndarray]) -> np.ndarray:
    """Compute the standard deviation of each instance's weight over runs with different seeds.

    Parameters
    ----------
    weights : sequence of ndarray of shape (n_instances,)
        The weights of the same instances, one array per run.

    Returns
    -------
    ndarray of shape (n_instances,)

    Examples
    --------
    >>> compute_weight_spread([np.array([0.5, 0.5]), np.array([0.75, 0.25])]).tolist()
    [0.125, 0.125]
    """
    return np.std(np.asarray(weights, dtype=np.float64), axis=0)
