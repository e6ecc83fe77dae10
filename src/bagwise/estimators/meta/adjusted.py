"""A meta-estimator that calibrates probabilities (temperature, threshold) on a held-out share of the training bags."""

from dataclasses import asdict
from typing import Any

import numpy as np
import numpy.typing as npt
from torch import Tensor

from bagwise.arguments import check_bool, check_real_number
from bagwise.bags import hold_out
from bagwise.estimators.base import BagEstimator, BagPredictions, RandomState
from bagwise.estimators.calibration import Adjustment, check_adjustment, learn_adjustment, restore_adjustment
from bagwise.estimators.meta.base import DelegatingEstimator
from bagwise.estimators.validation import BagsLike
from bagwise.nn import Purpose, random_integer


class Adjusted(DelegatingEstimator):
    """An estimator whose probabilities and decision threshold are adjusted on held-out training bags.

        p′ ∝ p^(1/T)        positive if p′ > t

    The temperature T maximises the likelihood of the held-out bags (Guo, Pleiss, Sun & Weinberger, *On calibration of
    modern neural networks*, ICML 2017). The threshold t maximises recall + specificity on the same bags.

    Parameters
    ----------
    estimator : BagEstimator or None, default=None
        Any bag estimator; None means ``PooledClassifier()``.
    temperature : bool, default=True
        Whether to calibrate the probabilities by a temperature.
    threshold : bool, default=False
        Whether to learn the decision threshold between two classes, instead of 0.5.
    share : float, default=0.25
        Share of the training bags that is held out to learn temperature and threshold.
    random_state : int, RandomState or None, default=None
        Random seed; pass an int for reproducible results.

    Attributes
    ----------
    model_ : BagEstimator
        The copy of ``estimator``, fitted to the bags that are not held out.
    adjustment_ : Adjustment
        The learned temperature and threshold.

    Examples
    --------
    >>> from bagwise.data.datasets import load_dataset
    >>> bags = load_dataset("needles", n_bags=60)
    >>> model = Adjusted(threshold=True, random_state=0).fit(bags, bags.labels)
    >>> model.adjustment_.temperature > 0, 0 < model.decision_threshold < 1
    (True, True)
    """

    adjustment_: Adjustment

    def __init__(
        self,
        estimator: BagEstimator | None = None,
        temperature: bool = True,
        threshold: bool = False,
        share: float = 0.25,
        random_state: RandomState = None,
    ) -> None:
        self.estimator = estimator
        self.temperature = temperature
        self.threshold = threshold
        self.share = share
        self.random_state = random_state

    def fit(self, X: BagsLike, y: npt.ArrayLike | None = None) -> "Adjusted":
        """Fit the estimator to a part of the bags, and the adjustment to the rest.

        Parameters
        ----------
        X : Bags, list of array-like, or array-like of shape (n_bags, n_features)
            Training bags.
        y : array-like of shape (n_bags,)
            One label per bag.

        Returns
        -------
        Adjusted
            The estimator itself.
        """
        bags, targets = self._check_training_input(X, y)
        check_real_number("share", self.share, above=0, below=1)
        for name in ("temperature", "threshold"):
            check_bool(name, getattr(self, name))
        check_adjustment(self.temperature, self.threshold, self.target_)
        seed = random_integer(self.seed_, Purpose.SPLIT, 6)
        training, held_out = hold_out(self.target_.make_strata(targets), bags.groups, self.share, seed)
        self.model_ = self._copy_estimator().fit(bags[training], self.target_.decode(targets[training]))
        self.adjustment_ = learn_adjustment(
            self.target_,
            self.model_.predict_outputs(bags[held_out]),
            targets[held_out],
            temperature=self.temperature,
            threshold=self.threshold,
        )
        return self

    @property
    def decision_threshold(self) -> float:
        return self.adjustment_.threshold

    def predict_outputs(self, X: BagsLike) -> np.ndarray:
        outputs = super().predict_outputs(X)
        return self.adjustment_.apply(outputs)

    def predict_with_weights(self, X: BagsLike) -> BagPredictions:
        predictions = super().predict_with_weights(X)
        return predictions._replace(outputs=self.adjustment_.apply(predictions.outputs))

    def _content(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        metadata, tensors = super()._content()
        return {"adjustment": asdict(self.adjustment_), "model": metadata}, tensors

    def _restore(self, metadata: dict[str, Any], tensors: dict[str, Tensor]) -> None:
        self.adjustment_ = restore_adjustment(metadata["adjustment"])
        super()._restore(metadata["model"], tensors)
