"""Probabilities set right on held-out bags: a temperature, and a threshold for the decision.

    p′ ∝ p^(1/T)                    T by the greatest likelihood of the held-out bags (Guo et al. 2017)
    positive where p′ > t           t where recall + specificity on them is greatest

A label is taken to be right with probability (n + 1) / (n + 2) only, as in ``calibration``. Both are learned from bags
that the model was not trained on, never from bags that are judged later.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from bagwise.decisions import EVEN
from bagwise.errors import InputError
from bagwise.estimators.calibration import fit_slope
from bagwise.likelihoods import for_classes, logarithms
from bagwise.quantities import real_number


@dataclass(frozen=True)
class Adjustment:
    """What is done to probabilities; as it stands here, nothing."""

    temperature: float = 1.0
    threshold: float = EVEN

    def apply(self, probabilities: np.ndarray) -> np.ndarray:
        """Tempered probabilities; their order within a class stays for two classes."""
        if self.temperature == 1.0:
            return probabilities
        return torch.softmax(logarithms(probabilities) / self.temperature, dim=1).numpy()


def restored_adjustment(facts: dict[str, Any]) -> Adjustment:
    """What a saved model says of its adjustment; a number that no adjustment has is refused."""
    return Adjustment(
        real_number("temperature", facts["temperature"], above=0),
        real_number("threshold", facts["threshold"], least=0),
    )


def learn_adjustment(
    probabilities: np.ndarray, targets: np.ndarray, *, temperature: bool, threshold: bool
) -> Adjustment:
    """What is asked for, learned from held-out bags."""
    tempered = Adjustment(_temperature(probabilities, targets) if temperature else 1.0)
    positive = tempered.apply(probabilities)[:, 1]
    return Adjustment(tempered.temperature, _threshold(positive, targets == 1) if threshold else EVEN)


def check_threshold(threshold: bool, n_classes: int) -> None:
    """Refuse a threshold between more than two classes."""
    if threshold and n_classes > 2:
        raise InputError(f"a threshold decides between two classes, and y has {n_classes}; leave it out")


def _temperature(probabilities: np.ndarray, targets: np.ndarray) -> float:
    likelihood = for_classes(probabilities.shape[1])
    return 1 / fit_slope(likelihood, likelihood.scores(logarithms(probabilities)).numpy(), targets)


def _threshold(probabilities: np.ndarray, positive: np.ndarray) -> float:
    """The middle of the gap that parts the classes best, of equal ones the nearest to one half."""
    values = np.unique(probabilities)
    if positive.all() or not positive.any() or len(values) == 1:
        return EVEN
    edges = (values[1:] + values[:-1]) / 2
    recall = np.array([(probabilities[positive] > edge).mean() for edge in edges])
    specificity = np.array([(probabilities[~positive] < edge).mean() for edge in edges])
    best = edges[np.isclose(recall + specificity, (recall + specificity).max())]
    return float(best[np.abs(best - EVEN).argmin()])
