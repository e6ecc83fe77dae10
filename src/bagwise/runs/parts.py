"""The training, validation and test bags of a run, determined by the data's name and a few parameters."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bagwise.bags import Bags, align_features, hold_out, read_split_file
from bagwise.data import get_labels, open_source
from bagwise.errors import InputError
from bagwise.evaluation import Split, check_splits, get_groups
from bagwise.nn import Purpose, random_integer
from bagwise.targets import AUTO, Target, learn_target

LearnTarget = Callable[[np.ndarray, int], Target]  # labels, number of bags → target
TEST_SHARE = 0.2  # held out by default


class RunParts(NamedTuple):
    """The bags of a run; all have labels.

    Attributes
    ----------
    training : Bags
        Training bags.
    test : Bags
        Test bags.
    validation : Bags or None, default=None
        Validation bags, if a split file names them.
    set_aside : tuple of str, default=()
        Names of bags without instances.
    """

    training: Bags
    test: Bags
    validation: Bags | None = None
    set_aside: tuple[str, ...] = ()


def learn_automatic_target(y: np.ndarray, n_bags: int) -> Target:
    """Learn the target of the kind that accepts the labels."""
    return learn_target(AUTO, y, n_bags)


def split_source(
    data: str,
    options: dict[str, Any],
    test: float | str | None,
    split_seed: int,
    splits: str | None = None,
    ungrouped: bool = False,
    *,
    learn: LearnTarget = learn_automatic_target,
) -> RunParts:
    """Open data and separate its test bags.

    Parameters
    ----------
    data : str
        Name of a data set, or path of a folder or file.
    options : dict
        Options of the data set or reader.
    test : float, str or None
        Share of the bags to hold out, stratified by target, with the bags of a group kept together; or the name or path
        of other data to test on; or None for the data set's own test bags, or a fifth of the bags if it has none.
    split_seed : int
        Random seed of the split.
    splits : str or None, default=None
        csv file with the columns train, val and test, which list the names of the bags to use.
    ungrouped : bool, default=False
        Whether bags of one group (e.g. a patient) may be in both training and test. If False, this is an error.
    learn : callable, default=learn_automatic_target
        Learns the target from labels and the number of bags: the method ``learn_target`` of the run's estimator.

    Returns
    -------
    RunParts
    """
    source = open_source(data, **options)
    labels = get_labels(source.training, data)
    if splits is not None:
        return _split_by_file(source.training, splits, test, ungrouped)._replace(set_aside=source.set_aside)
    if isinstance(test, str):
        parts = RunParts(source.training, open_source(test).prediction_bags, set_aside=source.set_aside)
        return _check_compatible(parts, test, ungrouped, learn)
    if test is None and source.test is not None:
        parts = RunParts(source.training, source.test, set_aside=source.set_aside)
        return _check_compatible(parts, data, ungrouped, learn)
    groups = get_groups(source.training, not ungrouped)
    seed = random_integer(split_seed, Purpose.SPLIT, 1)
    target = learn(labels, len(labels))
    strata = target.make_strata(target.encode(labels, len(labels)))
    training, held_out = hold_out(strata, groups, TEST_SHARE if test is None else test, seed)
    return RunParts(source.training[training], source.training[held_out], set_aside=source.set_aside)


def _split_by_file(bags: Bags, path: str, test: float | str | None, ungrouped: bool) -> RunParts:
    """Split bags as listed in a split file; bags that are not listed are left out."""
    if test is not None:
        raise InputError("--splits already names the test bags; leave out --test")
    if bags.names is None:
        raise InputError(
            f"{path} refers to bags by name, but the bags of the data have no names; use --test instead of --splits"
        )
    training, validation, test_rows = read_split_file(path).rows(bags.names, Path(path))
    fitted = np.concatenate([training, validation])
    splits = [Split(repeat=0, fold=0, training=fitted, test=test_rows)]
    if len(validation):
        splits.append(Split(repeat=0, fold=0, training=training, test=validation))
    check_splits(splits, get_groups(bags, not ungrouped))
    return RunParts(bags[training], bags[test_rows], bags[validation] if len(validation) else None)


def _check_compatible(parts: RunParts, data: str, ungrouped: bool, learn: LearnTarget) -> RunParts:
    """Reject test bags that a model trained on the training bags could not predict, before training."""
    training = parts.training
    try:
        names = training.feature_names
        test = parts.test if names is None else align_features(parts.test, names, whose="the training bags")
    except InputError as error:
        raise InputError(f"the test bags of '{data}': {error}") from None
    if test.instance_shape != training.instance_shape:
        raise InputError(
            f"the test bags of '{data}' have instances of shape {test.instance_shape}, but the training bags have "
            f"{training.instance_shape}; use test bags with instances of the same shape"
        )
    if test.extractor != training.extractor and None not in (test.extractor, training.extractor):
        raise InputError(
            f"the test bags of '{data}' have features of '{test.extractor}', but the training bags have features of "
            f"'{training.extractor}'; extract both with the same extractor"
        )
    if not ungrouped and training.groups is not None and test.groups is not None:
        check_disjoint_groups(training.groups.tolist(), test.groups, data)
    try:
        learn(get_labels(training, data), len(training)).encode(get_labels(test, data), len(test))
    except InputError as error:
        raise InputError(f"the test bags of '{data}': {error}") from None
    return parts


def check_disjoint_groups(training_groups: Iterable[Any], test_groups: np.ndarray, data: str) -> None:
    """Reject test bags of groups that also have training bags; groups are compared as text."""
    if shared := sorted({*map(str, training_groups)} & {*map(str, test_groups.tolist())}):
        raise InputError(
            f"{len(shared)} groups (e.g. patients) of the test bags of '{data}' also have training bags: "
            f"{', '.join(shared[:10])}{' …' * (len(shared) > 10)}; remove their bags from one of the two, or allow "
            "this with --ungrouped"
        )
