"""Subsets of a bag, each judged by the estimator itself as a bag of its own."""

from collections.abc import Sequence

import numpy as np

from bagwise.bags import Bags
from bagwise.bags.arrays import offsets_of
from bagwise.estimators import BagEstimator
from bagwise.explain.contract import class_scores
from bagwise.explain.orders import ScoreWalk, Walk
from bagwise.likelihoods import logarithms
from bagwise.training.batches import by_rows

ROWS_AT_ONCE = 1 << 14  # of the subsets that are packed together; a larger one stands alone


def judge_subsets(estimator: BagEstimator, bag: Bags, subsets: Sequence[np.ndarray]) -> np.ndarray:
    """(n_subsets, n_classes): the probabilities of bags of these rows of one bag, none of them empty."""
    sizes = np.array([len(rows) for rows in subsets])
    together = (subsets[chunk] for chunk in by_rows(sizes, ROWS_AT_ONCE))
    return np.concatenate([estimator.predict_proba(_packed(bag, chosen)) for chosen in together])


def judging(estimator: BagEstimator) -> ScoreWalk:
    """How any estimator scores a bag along a walk: by the log odds of the probabilities it gives."""

    def score(bag: Bags, walk: Walk) -> np.ndarray:
        subsets = [order[:edge] for order in walk.orders for edge in walk.edges[1:]]
        scores = class_scores(logarithms(judge_subsets(estimator, bag, subsets)))
        return scores.reshape(len(walk.orders), len(walk.edges) - 1, -1)

    return score


def _packed(bag: Bags, subsets: Sequence[np.ndarray]) -> Bags:
    rows = np.concatenate(subsets)
    return Bags.trusted(instances=bag.instances[rows], offsets=offsets_of([len(each) for each in subsets]))
