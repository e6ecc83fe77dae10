"""The part of scikit-learn's interface that is specific to classifiers: classes, probabilities and decision scores."""

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if

from bagwise.estimators.validation import BagsLike


def _predicts_classes(estimator: Any) -> bool:
    """Return whether outputs are class probabilities; true until the estimator has learned another target."""
    target = getattr(estimator, "target_", None)
    return target is None or hasattr(target, "classes")


class ClassPredictor(ClassifierMixin):
    """Mixin of bag estimators that predict classes.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels in increasing order.
    """

    @property
    def classes_(self: Any) -> np.ndarray:
        """The class labels in increasing order."""
        return self.target_.classes

    @available_if(_predicts_classes)
    def predict_proba(self: Any, X: BagsLike) -> np.ndarray:
        """Predict class probabilities.

        Parameters
        ----------
        X : Bags, list of array-like, or array-like of shape (n_bags, n_features)
            Bags to predict.

        Returns
        -------
        ndarray of shape (n_bags, n_classes)
            Class probabilities; columns are in the order of ``classes_``, whichever class is positive.
        """
        return self.predict_outputs(X)

    @available_if(_predicts_classes)
    def predict_log_proba(self: Any, X: BagsLike) -> np.ndarray:
        """Predict the logarithms of the class probabilities; minus infinity for a probability of zero.

        Parameters
        ----------
        X : Bags, list of array-like, or array-like of shape (n_bags, n_features)
            Bags to predict.

        Returns
        -------
        ndarray of shape (n_bags, n_classes)
            Columns are in the order of ``classes_``.
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def decision_function(self: Any, X: BagsLike) -> np.ndarray:
        """Compute the scores of bags.

        Parameters
        ----------
        X : Bags, list of array-like, or array-like of shape (n_bags, n_features)
            Bags to score.

        Returns
        -------
        ndarray of shape (n_bags,) or (n_bags, n_classes)
            For two classes, the log odds of the last class in ``classes_``; else one score per class.
        """
        scores = self._compute_scores(X)
        return self.target_.likelihood.decisions(scores)
