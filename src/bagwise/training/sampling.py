"""Large bags by some of their instances: a training step sees so many of each at most, other ones every time.

A bag's label holds for all of its instances together, so what is drawn of a positive bag may lack the ones that make it
positive; over many steps all are seen. Predictions always read whole bags.
"""

import numpy as np

from bagwise import randomness
from bagwise.bags import Bags
from bagwise.bags.arrays import offsets_of
from bagwise.randomness import Purpose


def draw_instances(bags: Bags, chosen: np.ndarray, most: int, seed: int, step: int) -> Bags:
    """The chosen bags, each by at most so many of its instances: a function of (seed, step, bag).

    >>> bags = Bags.from_list([[[1.0]] * 3, [[2.0]] * 9])
    >>> draw_instances(bags, np.array([1, 0]), most=4, seed=0, step=0).sizes
    array([4, 3])
    """
    rows = [_rows(bags, int(bag), most, seed, step) for bag in chosen]
    return Bags.trusted(
        instances=bags.instances[np.concatenate(rows)], offsets=offsets_of([len(part) for part in rows])
    )


def _rows(bags: Bags, bag: int, most: int, seed: int, step: int) -> np.ndarray:
    start, end = bags.offsets[bag], bags.offsets[bag + 1]
    if end - start <= most:
        return np.arange(start, end)
    drawn = randomness.generator(seed, Purpose.SAMPLE, step, bag).choice(end - start, most, replace=False)
    return start + np.sort(drawn)
