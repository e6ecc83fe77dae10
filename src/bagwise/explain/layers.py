"""The values that are shown for the instances of a bag: weight, contribution to a class, probability of a class.

weight         from the run's weights.npy, which was written when the run was evaluated
contribution   signed; sums to the bag's score minus a baseline (``explain_bags``)
probability    predicted by the run's model for a bag that contains only this instance
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from typing import Generic, TypeVar

import numpy as np

from bagwise.explain.attribution import Explanation
from bagwise.explain.explanation import explain_bags
from bagwise.explain.heatmaps.map import MapLayer
from bagwise.runs import OpenRun

LAYERS = ("weight", "contribution", "probability")
MAX_CACHED_BAGS = 16

Value = TypeVar("Value")


class BoundedCache(Generic[Value]):
    """A thread-safe cache of the most recently used values.

    If several threads request a value that is not cached, one of them computes it and the others wait.

    Parameters
    ----------
    max_size : int
        Number of values to keep; the least recently used one is dropped first.
    compute : callable
        Computes the value of a key; the parts of the key are its arguments.

    Examples
    --------
    >>> squares = BoundedCache(2, lambda number: number**2)
    >>> [squares.get(number) for number in (1, 2, 3)], len(squares)
    ([1, 4, 9], 2)
    """

    def __init__(self, max_size: int, compute: Callable[..., Value]) -> None:
        self._max_size = max_size
        self._compute = compute
        self._values: OrderedDict[tuple[Hashable, ...], Future[Value]] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._values)

    def get(self, *key: Hashable) -> Value:
        """Return the value of a key, and compute it if it is not cached; exceptions are not cached.

        Parameters
        ----------
        *key : hashable
            The parts of the key, which are the arguments of ``compute``.

        Returns
        -------
        object
            The value.
        """
        with self._lock:
            future = self._values.get(key)
            is_new = future is None
            future = self._values.setdefault(key, future or Future())
            self._values.move_to_end(key)
            if len(self._values) > self._max_size:
                self._values.popitem(last=False)
        if is_new:
            self._resolve(key, future)
        return future.result()

    def _resolve(self, key: tuple[Hashable, ...], future: "Future[Value]") -> None:
        try:
            future.set_result(self._compute(*key))
        except BaseException as error:
            with self._lock:
                self._values.pop(key, None)
            future.set_exception(error)


def make_map_layer(layer: str, values: np.ndarray, class_name: str) -> MapLayer:
    """Return the values of a layer with the properties that rendering needs.

    Parameters
    ----------
    layer : {"weight", "contribution", "probability"}
        Name of the layer. Contributions are signed; weights belong to no class.
    values : ndarray of shape (n_instances,)
        The values.
    class_name : str
        Class of the contributions or probabilities.

    Returns
    -------
    MapLayer
        The values with their name, class and sign.
    """
    return MapLayer(
        values=values,
        name=layer,
        class_name=None if layer == "weight" else class_name,
        signed=layer == "contribution",
    )


class BagLayers:
    """The layers of the test bags of a run; layers that need the model are computed on demand and cached.

    Parameters
    ----------
    open_run : OpenRun
        The run.
    """

    def __init__(self, open_run: OpenRun) -> None:
        self._open_run = open_run
        self._explanations = BoundedCache(MAX_CACHED_BAGS, self._explain)
        self._probabilities = BoundedCache(MAX_CACHED_BAGS, self._predict_instances)
        self._columns: dict[str, Callable[[int, int], np.ndarray]] = {
            "weight": lambda bag, number: self.weights(bag),
            "contribution": lambda bag, number: self.explanation(bag).contributions[:, number],
            "probability": lambda bag, number: self.probabilities(bag)[:, number],
        }

    def values(self, layer: str, bag: int, class_number: int) -> np.ndarray:
        """Return the values of a layer.

        Parameters
        ----------
        layer : {"weight", "contribution", "probability"}
            Name of the layer.
        bag : int
            Index of the test bag.
        class_number : int
            Index of the class of contributions and probabilities; it has no effect on weights.

        Returns
        -------
        ndarray of shape (n_instances,)
        """
        return self._columns[layer](bag, class_number)

    def weights(self, bag: int) -> np.ndarray:
        """Return the weights of a bag.

        Parameters
        ----------
        bag : int
            Index of the test bag.

        Returns
        -------
        ndarray of shape (n_instances,)
        """
        return self._open_run.run.weights[self._open_run.rows(bag)]

    def explanation(self, bag: int) -> Explanation:
        """Return the explanation of a bag.

        Parameters
        ----------
        bag : int
            Index of the test bag.

        Returns
        -------
        Explanation
        """
        return self._explanations.get(bag)

    def probabilities(self, bag: int) -> np.ndarray:
        """Return the probabilities of each instance as a bag of its own.

        Parameters
        ----------
        bag : int
            Index of the test bag.

        Returns
        -------
        ndarray of shape (n_instances, n_classes)
        """
        return self._probabilities.get(bag)

    def _explain(self, bag: int) -> Explanation:
        with self._open_run.prediction_lock:
            return explain_bags(self._open_run.model, self._open_run.bag(bag))

    def _predict_instances(self, bag: int) -> np.ndarray:
        with self._open_run.prediction_lock:
            return self._open_run.model.predict_proba(self._open_run.bag(bag).singletons())
