"""A run of several processes: the first one writes and judges; the others hear from it what to train, and assist."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bagwise.estimators import BagClassifier
from bagwise.runs.parts import split_source
from bagwise.training.ranks import Ranks, current

NOTHING = ""  # to do


class Leader:
    """The first process: it tells the others what to do, once."""

    def __init__(self, ranks: Ranks) -> None:
        self._ranks = ranks
        self._told = False

    def begin(self, description: dict[str, Any], checkpoint: Path) -> None:
        """Have the others train along."""
        self._tell(json.dumps({"description": description, "checkpoint": str(checkpoint.resolve())}))

    def dismiss(self) -> None:
        """Have them end, if they were told nothing: there is nothing to do, or it was refused."""
        if not self._told:
            self._tell(NOTHING)

    def _tell(self, text: str) -> None:
        self._told = True
        self._ranks.tell(text)


@contextmanager
def leading() -> Iterator[Leader]:
    """Be the first process; whatever happens, the others do not wait for ever."""
    leader = Leader(current())
    try:
        yield leader
    finally:
        leader.dismiss()


def assist(should_stop: Callable[[], bool] = lambda: False) -> None:
    """Train along with the first process, as it tells; nothing is written here."""
    told = current().tell()
    if told == NOTHING:
        return
    task = json.loads(told)
    parts = split_source(**task["description"]["data"])
    validation = None if parts.validation is None else (parts.validation, parts.validation.labels)
    BagClassifier(**task["description"]["parameters"]).fit(
        parts.training,
        parts.training.labels,
        validation=validation,
        checkpoint=task["checkpoint"],
        should_stop=should_stop,
    )
