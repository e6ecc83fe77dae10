"""The training and the test bags of a run, found again from a few words and numbers."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bagwise import randomness
from bagwise.bags import Bags
from bagwise.errors import InputError
from bagwise.estimators.taking import known_class_numbers
from bagwise.evaluation.protocol import Split, apart, checked
from bagwise.formats.split_files import read_splits
from bagwise.randomness import Purpose
from bagwise.sources import open_source
from bagwise.splits import hold_out


class Parts(NamedTuple):
    """Bags to train on and bags to judge by; all have labels."""

    training: Bags
    test: Bags
    validation: Bags | None = None  # where a file says which they are
    set_aside: tuple[str, ...] = ()  # names of bags without an instance


def split_source(
    data: str,
    options: dict[str, Any],
    test: float | str | None,
    split_seed: int,
    splits: str | None = None,
    ungrouped: bool = False,
) -> Parts:
    """Open DATA and set its test bags apart.

    splits : a file with the columns train, val and test, which decides everything
    test : a share of the bags, held out by class and by group; other DATA; or None, which takes the data set's own
        test bags, or a fifth of the bags where it has none
    ungrouped : whether bags of a group (a patient) may be trained on and judged by; else they are refused
    """
    source = open_source(data, **options)
    labels = known_labels(source.training, data)
    if splits is not None:
        return _from_file(source.training, splits, test, ungrouped)._replace(set_aside=source.set_aside)
    if isinstance(test, str):
        return _alike(Parts(source.training, open_source(test).judged, set_aside=source.set_aside), test, ungrouped)
    if test is None and source.test is not None:
        return _alike(Parts(source.training, source.test, set_aside=source.set_aside), data, ungrouped)
    seed = randomness.integer(split_seed, Purpose.SPLIT, 1)
    kept, held = hold_out(labels, apart(source.training, not ungrouped), 0.2 if test is None else test, seed)
    return Parts(source.training[kept], source.training[held], set_aside=source.set_aside)


def _from_file(bags: Bags, path: str, test: float | str | None, ungrouped: bool) -> Parts:
    """The parts that a file names; bags it does not name are left out."""
    if test is not None:
        raise InputError("the splits of a file say which bags are for the test; leave test out")
    if bags.names is None:
        raise InputError(f"{path} names its bags, and those of the data have no names")
    training, validation, judged = read_splits(path).rows(bags.names, Path(path))
    rows = np.concatenate([training, validation])
    splits = [Split(0, 0, rows, judged), *([Split(0, 0, training, validation)] if len(validation) else [])]
    checked(splits, apart(bags, not ungrouped))
    return Parts(bags[training], bags[judged], bags[validation] if len(validation) else None)


def _alike(parts: Parts, data: str, ungrouped: bool) -> Parts:
    """Test bags that a model of the training bags can judge: said now rather than after the training."""
    training, test = parts.training, parts.test
    if test.instance_shape != training.instance_shape:
        raise InputError(
            f"the test bags of '{data}' have instances of shape {test.instance_shape}, the training bags of "
            f"{training.instance_shape}; give test bags of the same kind"
        )
    if test.extractor != training.extractor and None not in (test.extractor, training.extractor):
        raise InputError(
            f"the test bags of '{data}' hold features of '{test.extractor}', the training bags of "
            f"'{training.extractor}'; extract the features again"
        )
    if not ungrouped and training.groups is not None and test.groups is not None:
        check_apart(training.groups.tolist(), test.groups, data)
    try:
        known_class_numbers(known_labels(test, data), np.unique(known_labels(training, data)), len(test))
    except InputError as error:
        raise InputError(f"the test bags of '{data}': {error}") from None
    return parts


def check_apart(trained: Iterable[Any], judged: np.ndarray, data: str) -> None:
    """No patient is on both sides, however the two sets of bags write their names."""
    if shared := sorted({*map(str, trained)} & {*map(str, judged.tolist())}):
        raise InputError(
            f"{len(shared)} groups (patients) of the test bags of '{data}' are trained on too: {', '.join(shared[:10])}"
            f"{' …' * (len(shared) > 10)}; leave their bags out of one of the two, or allow it with --ungrouped"
        )


def known_labels(bags: Bags, data: str) -> np.ndarray:
    """The labels of bags, refused where there are none."""
    if bags.labels is None:
        raise InputError(f"the bags of '{data}' have no labels; training and evaluation need one for each bag")
    return bags.labels
