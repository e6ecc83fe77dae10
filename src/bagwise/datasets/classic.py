"""Musk1, Musk2, Fox, Tiger, Elephant: the five classical benchmarks, as miproblems.org gave them out.

Values are as in the files: standardising belongs to the estimator, which fits it on training bags only. Fox, Tiger and
Elephant have 108, 106 and 120 features that never vary; rounding gives some of them a deviation just above zero. There
are no instance labels: the files repeat the bag's.
"""

from collections.abc import Callable

from bagwise.bags import Bags
from bagwise.datasets.home import locate
from bagwise.formats.prtools import read_prtools


def loader(name: str) -> Callable[[], Bags]:
    """The function that loads one of the five."""

    def load() -> Bags:
        (path,) = locate(name).values()
        return read_prtools(path)

    return load
