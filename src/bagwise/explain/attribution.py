"""The results of an explanation, and the score of each class.

    two classes       s₂ = log p₂ − log p₁,  s₁ = −s₂        the log odds of each class
    several classes   s_c = log p_c − mean over classes      independent of a shift common to all classes

Within a bag, the contributions cₖ of its instances and the baseline b sum to the score of each class: s = b + Σₖ cₖ.
"""

from typing import NamedTuple

import numpy as np
from torch import Tensor

from bagwise.targets import make_likelihood


class Explanation(NamedTuple):
    """Predictions for bags, with the contribution of every instance.

    Attributes
    ----------
    classes : ndarray of shape (n_classes,)
        The class labels.
    probabilities : ndarray of shape (n_bags, n_classes)
        Class probabilities, exactly as predicted by the estimator.
    weights : ndarray of shape (n_instances,)
        Weight of each instance, exactly as returned by the estimator; they sum to one within each bag.
    scores : ndarray of shape (n_bags, n_classes)
        Score of each class, before a temperature is applied to the probabilities.
    baseline : ndarray of shape (n_classes,)
        Score of a bag without instances.
    contributions : ndarray of shape (n_instances, n_classes)
        Signed contributions. Within a bag they sum to the scores minus the baseline.
    method : str
        How the contributions were computed: "closed form", "sampled permutations", or both joined by "and" if the
        members of an ensemble differ.
    """

    classes: np.ndarray
    probabilities: np.ndarray
    weights: np.ndarray
    scores: np.ndarray
    baseline: np.ndarray
    contributions: np.ndarray
    method: str


class Attribution(NamedTuple):
    """The part of an Explanation that depends on the kind of estimator; the fields have the same meaning."""

    scores: np.ndarray  # (n_bags, n_classes)
    baseline: np.ndarray  # (n_classes,)
    contributions: np.ndarray  # (n_instances, n_classes)
    method: str


def expand_scores(scores: np.ndarray) -> np.ndarray:
    """Return centred scores with one column per class, from one score (two classes) or several.

    The result is linear in the scores.

    >>> expand_scores(np.array([[2.0]])).tolist(), expand_scores(np.array([[1.0, 2.0, 6.0]])).tolist()
    ([[-2.0, 2.0]], [[-2.0, -1.0, 3.0]])
    """
    if scores.shape[1] == 1:
        return np.concatenate([-scores, scores], axis=1)
    return scores - scores.mean(axis=1, keepdims=True)


def compute_class_scores(log_probabilities: Tensor) -> np.ndarray:
    """Return the score of each class from the log probabilities."""
    likelihood = make_likelihood(log_probabilities.shape[1])
    return expand_scores(likelihood.scores(log_probabilities).numpy())
