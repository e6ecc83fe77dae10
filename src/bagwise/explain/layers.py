"""The values that are shown for the instances of a bag; the target names the keys of its layers.

weight         from the run's weights.npy, which was written when the run was evaluated
contribution   to an output; signed; sums to the bag's score minus a baseline (``explain_bags``)
probability    of a class, predicted by the run's model for a bag that contains only this instance
output         the same for targets other than classes
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from bagwise.explain.attribution import Explanation
from bagwise.explain.explanation import explain_bags
from bagwise.explain.heatmaps.map import MapLayer
from bagwise.runs import OpenRun

MAX_CACHED_BAGS = 16


class Layer(NamedTuple):
    """A kind of values of instances.

    Attributes
    ----------
    column : str
        Name in csv files, before the title of the output.
    caption : str
        Text in legends; ``{output}`` stands for the output, such as "class tumour".
    of_output : bool
        Whether the values belong to one output.
    signed : bool
        Whether the values may be negative.
    """

    column: str
    caption: str
    of_output: bool
    signed: bool


LAYERS: dict[str, Layer] = {
    "weight": Layer(column="weight", caption="Weight", of_output=False, signed=False),
    "contribution": Layer(column="contribution", caption="Contribution to {output}", of_output=True, signed=True),
    "probability": Layer(
        column="probability alone", caption="Probability of {output} (instance alone)", of_output=True, signed=False
    ),
    "output": Layer(column="output alone", caption="{output} (instance alone)", of_output=True, signed=False),
}

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


def make_map_layer(layer: str, values: np.ndarray, output: str) -> MapLayer:
    """Return the values of a layer with the properties that rendering needs.

    Parameters
    ----------
    layer : str
        Key of ``LAYERS``.
    values : ndarray of shape (n_instances,)
        The values.
    output : str
        The output in words, such as "class tumour", for layers of an output.

    Returns
    -------
    MapLayer
        The values with their name, output and sign.
    """
    return MapLayer(
        values=values,
        name=layer,
        output=output if LAYERS[layer].of_output else None,
        signed=LAYERS[layer].signed,
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
        self._outputs = BoundedCache(MAX_CACHED_BAGS, self._predict_instances)
        self._columns: dict[str, Callable[[int, int], np.ndarray]] = {
            "weight": lambda bag, number: self.weights(bag),
            "contribution": lambda bag, number: self.explanation(bag).contributions[:, number],
            "probability": lambda bag, number: self.outputs(bag)[:, number],
            "output": lambda bag, number: self.outputs(bag)[:, number],
        }

    def values(self, layer: str, bag: int, output_number: int) -> np.ndarray:
        """Return the values of a layer.

        Parameters
        ----------
        layer : str
            Key of ``LAYERS``.
        bag : int
            Index of the test bag.
        output_number : int
            Index of the output; it has no effect on weights.

        Returns
        -------
        ndarray of shape (n_instances,)
        """
        return self._columns[layer](bag, output_number)

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

    def outputs(self, bag: int) -> np.ndarray:
        """Return the outputs for each instance as a bag of its own.

        Parameters
        ----------
        bag : int
            Index of the test bag.

        Returns
        -------
        ndarray of shape (n_instances, n_outputs)
        """
        return self._outputs.get(bag)

    def _explain(self, bag: int) -> Explanation:
        with self._open_run.prediction_lock:
            return explain_bags(self._open_run.model, self._open_run.bag(bag))

    def _predict_instances(self, bag: int) -> np.ndarray:
        with self._open_run.prediction_lock:
            return self._open_run.model.predict_outputs(self._open_run.bag(bag).singletons())
