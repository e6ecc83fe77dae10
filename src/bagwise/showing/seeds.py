"""Runs that differ in their seed alone: how far their weights differ is what chance had a hand in."""

from collections.abc import Sequence

import numpy as np

from bagwise.runs import Run
from bagwise.summary import Plain


def other_seeds(runs: Sequence[Run]) -> list[list[int]]:
    """For each run, the numbers of those that differ from it in the seed alone, on the same test bags.

    The seed of a split is no difference where the bags it left for the test are the same. Runs that share a seed too
    are copies and say nothing of chance.
    """
    kinds, seeds = [_without_seed(run) for run in runs], [_seed(run) for run in runs]
    first = [{seeds[number]: number for number in _places(kinds, kind)[::-1]} for kind in kinds]
    return [
        sorted(number for seed, number in numbers.items() if seed != own)
        for numbers, own in zip(first, seeds, strict=True)
    ]


def weight_spread(weights: Sequence[np.ndarray]) -> np.ndarray:
    """(n_instances,) the standard deviation of each weight over the seeds.

    >>> weight_spread([np.array([0.5, 0.5]), np.array([0.75, 0.25])]).tolist()
    [0.125, 0.125]
    """
    return np.std(np.asarray(weights, dtype=np.float64), axis=0)


def _places(kinds: list[Plain], kind: Plain) -> list[int]:
    return [number for number, other in enumerate(kinds) if other == kind]


def _seed(run: Run) -> int | None:
    return run.parameters["parameters"]["random_state"]


def _without_seed(run: Run) -> Plain:
    parameters = {name: value for name, value in run.parameters["parameters"].items() if name != "random_state"}
    data = {name: value for name, value in run.parameters["data"].items() if name != "split_seed"}
    return {**run.parameters, "data": data, "parameters": parameters, "test_bags": run.manifest.get("test_bags")}
