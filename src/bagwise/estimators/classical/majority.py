"""The majority baseline: every bag gets the class shares of the training bags.

    p(Y = c) = n_c / n

No method that ignores the instances has a lower expected log loss. A model that is not better has learned nothing.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from bagwise.errors import InputError
from bagwise.estimators.base import BagEstimator, RandomState
from bagwise.estimators.class_predictor import ClassPredictor
from bagwise.estimators.validation import BagsLike, check_sample_weight
from bagwise.nn.pooling import make_uniform_weights
from bagwise.training import array_to_tensor


class MajorityClassifier(ClassPredictor, BagEstimator):
    """Predicts the class shares of the training bags for every bag; all instances have the same weight.

    Parameters
    ----------
    positive : object, default=None
        The positive one of two classes; None means the last class, or the obvious one of a common pair.
    random_state : int, RandomState or None, default=None
        Not used, because nothing is sampled; present for consistency with the other estimators.

    Attributes
    ----------
    class_shares_ : ndarray of shape (n_classes,)
        Share of each class among the training bags.

    Examples
    --------
    >>> model = MajorityClassifier().fit([np.zeros((2, 3))] * 4, ["no", "no", "no", "yes"])
    >>> model.predict_proba([np.ones((5, 3))]), model.predict([np.ones((5, 3))])
    (array([[0.75, 0.25]]), array(['no'], dtype='<U3'))
    """

    target = "classes"
    class_shares_: np.ndarray

    def __init__(self, positive: Any = None, random_state: RandomState = None) -> None:
        self.positive = positive
        self.random_state = random_state

    def fit(
        self, X: BagsLike, y: npt.ArrayLike | None = None, sample_weight: npt.ArrayLike | None = None
    ) -> "MajorityClassifier":
        """Count the classes.

        Parameters
        ----------
        X : Bags, list of array-like, or array-like of shape (n_bags, n_features)
            Training bags.
        y : array-like of shape (n_bags,)
            One label per bag.
        sample_weight : array-like of shape (n_bags,) or None, default=None
            Weight of each bag; None means one.

        Returns
        -------
        MajorityClassifier
            The estimator itself.
        """
        bags, targets = self._check_training_input(X, y)
        counts = np.bincount(targets, weights=check_sample_weight(sample_weight, len(bags)))
        self.class_shares_ = counts / counts.sum()
        return self

    def predict_outputs(self, X: BagsLike) -> np.ndarray:
        bags = self._check_bags(X)
        return np.tile(self.class_shares_, (len(bags), 1))

    def weigh(self, X: BagsLike) -> np.ndarray:
        bags = self._check_bags(X)
        rows = torch.zeros(bags.n_instances, 1, dtype=torch.float64)
        return make_uniform_weights(rows, array_to_tensor(bags.offsets)).numpy()[:, 0]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags

    def _content(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        return {}, {"class_shares": torch.from_numpy(self.class_shares_)}

    def _restore(self, metadata: dict[str, Any], tensors: dict[str, Tensor]) -> None:
        shares = tensors["class_shares"].numpy()
        if shares.shape != self.classes_.shape or not np.isclose(shares.sum(), 1) or shares.min() < 0:
            raise InputError("the saved class shares do not sum to one; train again")
        self.class_shares_ = shares
