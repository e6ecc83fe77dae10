"""The results of an explanation: the score of each output, and the contributions to it.

    two classes       s₂ = log p₂ − log p₁,  s₁ = −s₂        the log odds of each class
    several classes   s_c = log p_c − mean over classes      independent of a shift common to all classes
    other targets     the scores of the model

Within a bag, the contributions cₖ of its instances and the baseline b sum to the score of each output: s = b + Σₖ cₖ.
The likelihood computes the scores of the outputs (``Likelihood.score_outputs``).
"""

from typing import NamedTuple

import numpy as np


class Explanation(NamedTuple):
    """Predictions for bags, with the contribution of every instance.

    Attributes
    ----------
    names : tuple of str
        Titles of the outputs: for classes, their labels.
    outputs : ndarray of shape (n_bags, n_outputs)
        Outputs, such as class probabilities, exactly as predicted by the estimator.
    weights : ndarray of shape (n_instances,)
        Weight of each instance, exactly as returned by the estimator; they sum to one within each bag.
    scores : ndarray of shape (n_bags, n_outputs)
        Score of each output.
    baseline : ndarray of shape (n_outputs,)
        Scores of a bag without instances.
    contributions : ndarray of shape (n_instances, n_outputs)
        Signed contributions. Within a bag they sum to the scores minus the baseline.
    method : str
        How the contributions were computed: "closed form", "sampled permutations", or both joined by "and" if the
        members of an ensemble differ.
    """

    names: tuple[str, ...]
    outputs: np.ndarray
    weights: np.ndarray
    scores: np.ndarray
    baseline: np.ndarray
    contributions: np.ndarray
    method: str


class Attribution(NamedTuple):
    """The part of an Explanation that depends on the kind of estimator; the fields have the same meaning."""

    scores: np.ndarray  # (n_bags, n_outputs)
    baseline: np.ndarray  # (n_outputs,)
    contributions: np.ndarray  # (n_instances, n_outputs)
    method: str
