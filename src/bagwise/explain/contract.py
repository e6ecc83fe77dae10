"""What an explanation of bags holds, and what the score of a class is.

    two classes       s₂ = log p₂ − log p₁,  s₁ = −s₂        the log odds of each
    several classes   s_c = log p_c − mean over the classes   so that what lifts all classes alike counts for none

Within a bag the contributions cₖ of its instances and the baseline b make up the score of each class: s = b + Σₖ cₖ.
"""

from typing import NamedTuple

import numpy as np
from torch import Tensor

from bagwise.likelihoods import for_classes


class Attribution(NamedTuple):
    """What the scores of bags are made of."""

    scores: np.ndarray  # (n_bags, n_classes)
    baseline: np.ndarray  # (n_classes,)
    contributions: np.ndarray  # (n_instances, n_classes)
    method: str


class Explanation(NamedTuple):
    """Why bags were judged as they were."""

    classes: np.ndarray  # (n_classes,)
    probabilities: np.ndarray  # (n_bags, n_classes), exactly those of ``estimator.judge``
    weights: np.ndarray  # (n_instances,), exactly those of ``estimator.judge``
    scores: np.ndarray  # (n_bags, n_classes), before any temperature of the probabilities
    baseline: np.ndarray  # (n_classes,): the score without any instance
    contributions: np.ndarray  # (n_instances, n_classes), signed
    method: str  # how the contributions were found: "closed form", "sampled orders", or both where members differ


def by_class(scores: np.ndarray) -> np.ndarray:
    """A column for each class, from the one score of two classes or the scores of several; linear in the scores.

    >>> by_class(np.array([[2.0]])).tolist(), by_class(np.array([[1.0, 2.0, 6.0]])).tolist()
    ([[-2.0, 2.0]], [[-2.0, -1.0, 3.0]])
    """
    if scores.shape[1] == 1:
        return np.concatenate([-scores, scores], axis=1)
    return scores - scores.mean(axis=1, keepdims=True)


def class_scores(log_probabilities: Tensor) -> np.ndarray:
    """The scores of the classes that have these log-probabilities."""
    likelihood = for_classes(log_probabilities.shape[1])
    return by_class(likelihood.scores(log_probabilities).numpy())
