"""Probabilities set right on bags held out of the training: a temperature, and a threshold for the decision.

    p′ ∝ p^(1/T)                    T by the greatest likelihood of the held-out bags (Guo et al. 2017)
    positive where p′ ≥ t           t where recall + specificity on them is greatest

Both are learned from a share of the training bags, never from bags that are judged later.
"""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from bagwise import randomness
from bagwise.errors import InputError
from bagwise.estimators.calibration import fit_slope
from bagwise.estimators.contract import Judged
from bagwise.estimators.holding.delegating import DelegatingEstimator
from bagwise.likelihoods import for_classes
from bagwise.quantities import real_number
from bagwise.randomness import Purpose
from bagwise.splits import hold_out

LEAST = 1e-12  # a probability of zero has no logarithm


class Adjusted(DelegatingEstimator):
    """An estimator whose probabilities, and whose decision, are adjusted on a held-out share of the training bags.

    estimator : any estimator of bags; None stands for PooledClassifier()
    temperature : whether probabilities are calibrated by a temperature
    threshold : whether the decision between two classes is taken at a learned probability instead of one half
    share : of the training bags, held out to learn both by
    random_state : a whole number makes every fit the same
    """

    temperature_: float
    threshold_: float

    def __init__(
        self,
        estimator: Any = None,
        temperature: Any = True,
        threshold: Any = False,
        share: Any = 0.25,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.temperature = temperature
        self.threshold = threshold
        self.share = share
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> "Adjusted":
        """Learn from a part of the bags, and set the probabilities right by the rest."""
        bags, targets = self._training_bags(X, y)
        real_number("share", self.share, above=0, below=1)
        if self.threshold and len(self.classes_) > 2:
            raise InputError(f"a threshold decides between two classes, and y has {len(self.classes_)}; leave it out")
        seed = randomness.integer(self.seed_, Purpose.SPLIT, 6)
        kept, held = hold_out(targets, bags.groups, self.share, seed)
        self.model_ = self._copy().fit(bags[kept], self.classes_[targets[kept]])
        probabilities = self.model_.predict_proba(bags[held])
        self.temperature_ = _temperature(probabilities, targets[held]) if self.temperature else 1.0
        adjusted = _tempered(probabilities, self.temperature_)
        self.threshold_ = _threshold(adjusted[:, 1], targets[held] == 1) if self.threshold else 0.5
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        return _tempered(super().predict_proba(X), self.temperature_)

    def judge(self, X: Any) -> Judged:
        judged = super().judge(X)
        return Judged(_tempered(judged.probabilities, self.temperature_), judged.weights)

    def predict(self, X: Any) -> np.ndarray:
        """The likeliest class, or the positive one from the threshold on."""
        probabilities = self.predict_proba(X)
        if not self.threshold:
            return self.classes_[probabilities.argmax(axis=1)]
        return self.classes_[(probabilities[:, 1] >= self.threshold_).astype(int)]

    def _content(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        facts, numbers = super()._content()
        return {"temperature": self.temperature_, "threshold": self.threshold_, "model": facts}, numbers

    def _restore(self, facts: dict[str, Any], numbers: dict[str, Tensor]) -> None:
        self.temperature_, self.threshold_ = facts["temperature"], facts["threshold"]
        super()._restore(facts["model"], numbers)


def _logarithms(probabilities: np.ndarray) -> torch.Tensor:
    return torch.from_numpy(np.log(np.maximum(probabilities, LEAST, dtype=np.float64)))


def _temperature(probabilities: np.ndarray, targets: np.ndarray) -> float:
    likelihood = for_classes(probabilities.shape[1])
    return 1 / fit_slope(likelihood, likelihood.scores(_logarithms(probabilities)).numpy(), targets)


def _tempered(probabilities: np.ndarray, temperature: float) -> np.ndarray:
    if temperature == 1.0:
        return probabilities
    return torch.softmax(_logarithms(probabilities) / temperature, dim=1).numpy()


def _threshold(probabilities: np.ndarray, positive: np.ndarray) -> float:
    """The middle of the gap below the lowest probability that should still count as positive; one half if undefined."""
    if positive.all() or not positive.any():
        return 0.5
    values = np.unique(probabilities)
    edges = np.concatenate([[0.0], (values[1:] + values[:-1]) / 2, [1.0]])
    recall = np.array([(probabilities[positive] >= edge).mean() for edge in edges])
    specificity = np.array([(probabilities[~positive] < edge).mean() for edge in edges])
    best = recall + specificity
    return float(edges[np.flatnonzero(best == best.max())[np.abs(edges[best == best.max()] - 0.5).argmin()]])
