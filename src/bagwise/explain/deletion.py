"""Deletion and insertion curves (Petsiuk et al. 2018): the effect of the highest-ranked instances on the prediction.

    deletion    output of the bag without the first instances of a ranking; drops early if they are decisive
    insertion   output of a bag of only these first instances; rises early if they are decisive

An output is, for example, the probability of a class. The estimator predicts every subset as a bag. It cannot predict
an empty bag, whose output is defined as that of a score of zero: for classes, even odds.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from bagwise.arguments import check_whole_number
from bagwise.bags import Bags, compute_offsets
from bagwise.errors import InputError
from bagwise.estimators import BagEstimator
from bagwise.explain.shapley import PermutationPlan, PrefixScorer
from bagwise.training import group_by_rows

ROWS_AT_ONCE = 1 << 14  # rows of subsets that are predicted together; a larger subset is predicted by itself


class DeletionCurves(NamedTuple):
    """An output, such as the probability of a class, as instances are removed or added in the order of a ranking.

    Attributes
    ----------
    shares : ndarray of shape (n_points,)
        Share of the instances removed or added, from 0 to 1.
    deletion : ndarray of shape (n_points,)
        Output after removing these instances: from the whole bag to no evidence.
    insertion : ndarray of shape (n_points,)
        Output of a bag of only these instances: from no evidence to the whole bag.
    deletion_area : float
        Area under the deletion curve; small if the first instances are decisive for the output.
    insertion_area : float
        Area under the insertion curve; large if the first instances are decisive for the output.
    """

    shares: np.ndarray
    deletion: np.ndarray
    insertion: np.ndarray
    deletion_area: float
    insertion_area: float


def compute_deletion_curves(
    estimator: BagEstimator, bag: Bags, order: np.ndarray, output_number: int, points: int = 20
) -> DeletionCurves:
    """Compute the deletion and the insertion curve of one bag.

    Parameters
    ----------
    estimator : BagEstimator
        A fitted estimator.
    bag : Bags
        A single bag, for example ``bags[[0]]``.
    order : ndarray of shape (n_instances,)
        The rows of the bag ranked by weight or contribution, highest first, for example ``np.argsort(-weights)``.
    output_number : int
        Column of the output.
    points : int, default=20
        Number of steps from the whole bag to the empty bag; bags with fewer instances have one step per instance.

    Returns
    -------
    DeletionCurves
        Both curves and the areas under them.

    Raises
    ------
    InputError
        If there is not exactly one bag, or ``order`` is not a permutation of its rows.
    """
    order = _check_order(bag, np.asarray(order))
    steps = min(check_whole_number("points", points, minimum=1), len(order))
    counts = np.linspace(0, len(order), steps + 1).round().astype(int)
    remaining, added = [order[count:] for count in counts[:-1]], [order[:count] for count in counts[1:]]
    values = predict_subsets(estimator, bag, [*remaining, *added])[:, output_number]
    neutral, shares = estimator.target_.neutral_outputs[output_number], counts / len(order)
    deletion, insertion = np.append(values[:steps], neutral), np.insert(values[steps:], 0, neutral)
    return DeletionCurves(
        shares=shares,
        deletion=deletion,
        insertion=insertion,
        deletion_area=_compute_area(deletion, shares),
        insertion_area=_compute_area(insertion, shares),
    )


def predict_subsets(estimator: BagEstimator, bag: Bags, subsets: Sequence[np.ndarray]) -> np.ndarray:
    """Predict non-empty subsets of the rows of one bag, each as a bag: (n_subsets, n_outputs)."""
    return _apply_to_subsets(estimator.predict_outputs, bag, subsets)


def make_estimator_scorer(estimator: BagEstimator) -> PrefixScorer:
    """Return a scorer for any estimator: the scores of the outputs that it predicts, such as log odds."""
    likelihood = estimator.target_.likelihood
    return make_prefix_scorer(
        estimator.predict_outputs, lambda outputs: likelihood.score_outputs(likelihood.link(outputs))
    )


def make_prefix_scorer(
    predict: Callable[[Bags], np.ndarray], compute_scores: Callable[[np.ndarray], np.ndarray]
) -> PrefixScorer:
    """Return a scorer that predicts every prefix of every permutation as a bag of its own."""

    def score(bag: Bags, plan: PermutationPlan) -> np.ndarray:
        subsets = [permutation[:edge] for permutation in plan.permutations for edge in plan.edges[1:]]
        scores = compute_scores(_apply_to_subsets(predict, bag, subsets))
        return scores.reshape(len(plan.permutations), len(plan.edges) - 1, -1)

    return score


def _apply_to_subsets(predict: Callable[[Bags], np.ndarray], bag: Bags, subsets: Sequence[np.ndarray]) -> np.ndarray:
    sizes = np.array([len(rows) for rows in subsets])
    chunks = (subsets[chunk] for chunk in group_by_rows(sizes, ROWS_AT_ONCE))
    return np.concatenate([predict(_pack_subsets(bag, chunk)) for chunk in chunks])


def _pack_subsets(bag: Bags, subsets: Sequence[np.ndarray]) -> Bags:
    rows = np.concatenate(subsets)
    offsets = compute_offsets([len(each) for each in subsets])
    return Bags.trusted(offsets, instances=bag.instances[rows], feature_names=bag.feature_names)


def _compute_area(heights: np.ndarray, shares: np.ndarray) -> float:
    return float((heights[1:] + heights[:-1]) @ np.diff(shares) / 2)


def _check_order(bag: Bags, order: np.ndarray) -> np.ndarray:
    if len(bag) != 1:
        raise InputError(f"deletion curves need exactly one bag, got {len(bag)}; select one, e.g. bags[[0]]")
    if order.shape != (bag.n_instances,) or not np.array_equal(np.sort(order), np.arange(bag.n_instances)):
        raise InputError(
            f"order must contain each of the {bag.n_instances} rows of bag '{bag.name(0)}' exactly once, "
            "e.g. np.argsort(-weights)"
        )
    return order
