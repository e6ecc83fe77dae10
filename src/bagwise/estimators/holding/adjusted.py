"""Any estimator, its probabilities adjusted (temperature, threshold) on a held-out share of its training bags."""

from dataclasses import asdict
from typing import Any

import numpy as np
from torch import Tensor

from bagwise import randomness
from bagwise.estimators.adjustment import Adjustment, check_threshold, learn_adjustment, restored_adjustment
from bagwise.estimators.contract import Judged
from bagwise.estimators.holding.delegating import DelegatingEstimator
from bagwise.quantities import real_number, yes_or_no
from bagwise.randomness import Purpose
from bagwise.splits import hold_out


class Adjusted(DelegatingEstimator):
    """An estimator whose probabilities, and whose decision, are adjusted on a held-out share of the training bags.

    estimator : any estimator of bags; None stands for PooledClassifier()
    temperature : whether probabilities are calibrated by a temperature
    threshold : whether the decision between two classes is taken at a learned probability instead of one half
    share : of the training bags, held out to learn both by
    random_state : a whole number makes every fit the same
    """

    adjustment_: Adjustment

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
        for name in ("temperature", "threshold"):
            yes_or_no(name, getattr(self, name))
        check_threshold(self.threshold, len(self.classes_))
        seed = randomness.integer(self.seed_, Purpose.SPLIT, 6)
        kept, held = hold_out(targets, bags.groups, self.share, seed)
        self.model_ = self._copy().fit(bags[kept], self.classes_[targets[kept]])
        self.adjustment_ = learn_adjustment(
            self.model_.predict_proba(bags[held]),
            targets[held],
            temperature=self.temperature,
            threshold=self.threshold,
        )
        return self

    @property
    def decision_threshold(self) -> float:
        return self.adjustment_.threshold

    def predict_proba(self, X: Any) -> np.ndarray:
        probabilities = super().predict_proba(X)
        return self.adjustment_.apply(probabilities)

    def judge(self, X: Any) -> Judged:
        judged = super().judge(X)
        return judged._replace(probabilities=self.adjustment_.apply(judged.probabilities))

    def _content(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        facts, numbers = super()._content()
        return {"adjustment": asdict(self.adjustment_), "model": facts}, numbers

    def _restore(self, facts: dict[str, Any], numbers: dict[str, Tensor]) -> None:
        self.adjustment_ = restored_adjustment(facts["adjustment"])
        super()._restore(facts["model"], numbers)
