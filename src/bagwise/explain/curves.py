"""Deletion and insertion curves (Petsiuk et al. 2018): does the bag's probability follow the order of its instances?

    deletion    p(class) of the bag without its first instances of the order; falls early if they decided
    insertion   p(class) of a bag of these first instances alone; rises early if they decided

Every bag on the way is judged by the estimator itself. A bag without instances cannot be judged: it stands at even
odds, one over the number of classes, as a bag of which nothing is known.
"""

from typing import NamedTuple

import numpy as np

from bagwise.bags import Bags
from bagwise.errors import InputError
from bagwise.estimators import BagEstimator
from bagwise.explain.subsets import judge_subsets
from bagwise.quantities import whole_number


class Curve(NamedTuple):
    """The probability of a class as the first instances of an order are taken away, or put in."""

    shares: np.ndarray  # (n_points,), of the instances taken away or put in, from 0 to 1
    deletion: np.ndarray  # (n_points,), from the whole bag to even odds
    insertion: np.ndarray  # (n_points,), from even odds to the whole bag
    deletion_area: float  # under the curve; small if the first instances decided for the class
    insertion_area: float  # great if they did


def deletion_and_insertion(
    estimator: BagEstimator, bag: Bags, order: np.ndarray, class_number: int, points: int = 20
) -> Curve:
    """Both curves of one bag.

    order : the rows of the bag, those of greatest weight or contribution first
    class_number : column of the probabilities
    points : steps from the whole bag to none of it; a smaller bag has one for each instance
    """
    order = _checked(bag, np.asarray(order))
    steps = min(whole_number("points", points, least=1), len(order))
    counts = np.linspace(0, len(order), steps + 1).round().astype(int)
    left, put_in = [order[count:] for count in counts[:-1]], [order[:count] for count in counts[1:]]
    probabilities = judge_subsets(estimator, bag, [*left, *put_in])
    even, chosen = 1 / probabilities.shape[1], probabilities[:, class_number]
    shares = counts / len(order)
    deletion, insertion = np.append(chosen[:steps], even), np.insert(chosen[steps:], 0, even)
    return Curve(shares, deletion, insertion, _area(deletion, shares), _area(insertion, shares))


def _area(heights: np.ndarray, shares: np.ndarray) -> float:
    return float((heights[1:] + heights[:-1]) @ np.diff(shares) / 2)


def _checked(bag: Bags, order: np.ndarray) -> np.ndarray:
    if len(bag) != 1:
        raise InputError(f"a curve is of one bag, and there are {len(bag)}; choose one, e.g. bags[[0]]")
    if order.shape != (bag.n_instances,) or not np.array_equal(np.sort(order), np.arange(bag.n_instances)):
        raise InputError(
            f"the order of bag '{bag.name(0)}' must name each of its {bag.n_instances} rows once, "
            "e.g. np.argsort(-weights)"
        )
    return order
