"""A run that is being looked at: its test bags and its model, opened when first needed and then kept."""

import threading
from functools import cached_property
from typing import NamedTuple

from bagwise.bags import Bags
from bagwise.errors import InputError
from bagwise.estimators import BagEstimator
from bagwise.names import nearest
from bagwise.runs import Run


class Opened(NamedTuple):
    """The test bags, or why they cannot be shown."""

    bags: Bags | None
    missing: str | None


class ShownRun:
    """A run with its bags and model; several threads may ask at once, one of them opens."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.judging = threading.Lock()  # held by whoever uses the model: two at once would only be slower
        self._lock = threading.RLock()

    @property
    def opened(self) -> Opened:
        with self._lock:
            return self._opened

    @property
    def model(self) -> BagEstimator:
        with self._lock:
            return self._model

    def number(self, name: str) -> int:
        """The number of the test bag of that name."""
        names = [row["bag"] for row in self.run.predictions]
        if name not in names:
            raise InputError(f"{self.run.folder} has no test bag '{name}'; {nearest(name, names)}")
        return names.index(name)

    def rows(self, bag: int) -> slice:
        """Where the instances of a bag lie among those of all test bags."""
        return slice(int(self._offsets[bag]), int(self._offsets[bag + 1]))

    def bag(self, bag: int) -> Bags:
        """One test bag; refused where the data are not at hand."""
        bags, missing = self.opened
        if bags is None:
            raise InputError(missing)
        return bags[[bag]]

    @cached_property
    def _offsets(self) -> list[int]:
        return self.run.offsets.tolist()

    @cached_property
    def _opened(self) -> Opened:
        try:
            return Opened(self.run.test_bags(), None)
        except (InputError, OSError) as error:
            return Opened(None, str(error))

    @cached_property
    def _model(self) -> BagEstimator:
        return BagEstimator.load(self.run.folder / "model")
