"""A meta-estimator that learns a calibration and a threshold from a held-out share of the training bags."""

from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from bagwise.arguments import check_bool, check_real_number
from bagwise.bags import hold_out
from bagwise.estimators.base import BagEstimator, BagPredictions, RandomState
from bagwise.estimators.calibration import (
    Calibration,
    check_calibration,
    compute_class_shares,
    fit_calibration,
    make_identity,
    restore_calibration,
)
from bagwise.estimators.meta.base import DelegatingEstimator
from bagwise.estimators.thresholds import check_threshold, learn_threshold, restore_threshold
from bagwise.estimators.validation import BagsLike
from bagwise.nn import Purpose, random_integer
from bagwise.targets import DEFAULT_THRESHOLD


class Adjusted(DelegatingEstimator):
    """An estimator whose probabilities and decision threshold are adjusted on held-out training bags.

        log p′ = a · s + b (up to a constant)        positive if p′ > t

    with the scores s of the estimator: for two classes, the log odds. Slope a and offset b maximise the likelihood of
    the held-out bags; the threshold t maximises recall + specificity on the same bags.

    Parameters
    ----------
    estimator : BagEstimator or None, default=None
        Any bag estimator; None means ``PooledClassifier()``.
    calibration : bool, default=True
        Whether to calibrate the probabilities by slope and offset.
    threshold : bool, default=False
        Whether to learn the decision threshold between two classes, instead of 0.5.
    share : float, default=0.25
        Share of the training bags that is held out to learn calibration and threshold.
    random_state : int, RandomState or None, default=None
        Random seed; pass an int for reproducible results.

    Attributes
    ----------
    model_ : BagEstimator
        The copy of ``estimator``, fitted to the bags that are not held out.
    calibration_ : Calibration
        Slope and offset of the scores; 1 and 0 without calibration.
    threshold_ : float
        The learned decision threshold, or 0.5.

    Examples
    --------
    >>> from bagwise.data.datasets import load_dataset
    >>> bags = load_dataset("needles", n_bags=60)
    >>> model = Adjusted(threshold=True, random_state=0).fit(bags, bags.labels)
    >>> model.calibration_.slope > 0, 0 < model.decision_threshold < 1
    (True, True)
    """

    calibration_: Calibration
    threshold_: float

    def __init__(
        self,
        estimator: BagEstimator | None = None,
        calibration: bool = True,
        threshold: bool = False,
        share: float = 0.25,
        random_state: RandomState = None,
    ) -> None:
        self.estimator = estimator
        self.calibration = calibration
        self.threshold = threshold
        self.share = share
        self.random_state = random_state

    def fit(self, X: BagsLike, y: npt.ArrayLike | None = None) -> "Adjusted":
        """Fit the estimator to a part of the bags, and calibration and threshold to the rest.

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
        for name in ("calibration", "threshold"):
            check_bool(name, getattr(self, name))
        if self.calibration:
            check_calibration(self.target_)
        if self.threshold:
            check_threshold(self.target_)
        seed = random_integer(self.seed_, Purpose.SPLIT, 6)
        training, held_out = hold_out(self.target_.make_strata(targets), bags.groups, self.share, seed)
        self.model_ = self._copy_estimator().fit(bags[training], self.target_.decode(targets[training]))
        self._calibrate(self.model_.predict_outputs(bags[held_out]), targets, held_out)
        return self

    @property
    def decision_threshold(self) -> float:
        return self.threshold_

    def predict_outputs(self, X: BagsLike) -> np.ndarray:
        return self._calibrate_outputs(super().predict_outputs(X))

    def predict_with_weights(self, X: BagsLike) -> BagPredictions:
        predictions = super().predict_with_weights(X)
        return predictions._replace(outputs=self._calibrate_outputs(predictions.outputs))

    def _content(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        metadata, tensors = super()._content()
        own = {"calibration": self.calibration_.to_json(), "threshold": self.threshold_}
        return {**own, "model": metadata}, tensors

    def _restore(self, metadata: dict[str, Any], tensors: dict[str, Tensor]) -> None:
        self.calibration_ = restore_calibration(metadata["calibration"], self.target_.likelihood.n_scores)
        self.threshold_ = restore_threshold(metadata["threshold"])
        super()._restore(metadata["model"], tensors)

    def _calibrate(self, outputs: np.ndarray, targets: np.ndarray, held_out: np.ndarray) -> None:
        likelihood = self.target_.likelihood
        self.calibration_, self.threshold_ = make_identity(likelihood.n_scores), DEFAULT_THRESHOLD
        if self.calibration:
            scores, equal = likelihood.link(outputs), np.ones(len(targets))
            shares = compute_class_shares(targets, equal)
            self.calibration_ = fit_calibration(likelihood, scores, targets[held_out], shares, equal[held_out])
        if self.threshold:
            self.threshold_ = learn_threshold(self.target_, self._calibrate_outputs(outputs), targets[held_out])

    def _calibrate_outputs(self, outputs: np.ndarray) -> np.ndarray:
        if not self.calibration:
            return outputs
        likelihood = self.target_.likelihood
        scores = self.calibration_.apply(likelihood.link(outputs))
        return likelihood.outputs(torch.from_numpy(scores)).numpy()
