"""What every estimator of bags promises: scikit-learn's surface, plus the weight of each instance.

    fit(bags, y)   predict(bags)   predict_proba(bags)   weigh(bags)   score_instances(bags)   score(bags, y)

``bags`` are Bags, a list of (n_instances, …) arrays, or a 2-D array, of which each row is a bag of one instance.
Targets arrive as y; ``bags.labels`` are never read, so a prediction cannot leak them.
"""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from bagwise.bags import Bags
from bagwise.bags.checks import called
from bagwise.errors import InputError


class BagEstimator(ClassifierMixin, BaseEstimator, ABC):
    """Base of the classifiers of bags."""

    classes_: np.ndarray
    instance_shape_: tuple[int, ...]
    n_features_in_: int
    extractor_: str | None

    @abstractmethod
    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities, (n_bags, n_classes), columns in the order of ``classes_``."""

    @abstractmethod
    def weigh(self, X: Any) -> np.ndarray:
        """Each instance's share in its bag's decision, (n_instances,): not negative, sums to one within a bag."""

    def predict(self, X: Any) -> np.ndarray:
        """The likeliest class of each bag."""
        probabilities = self.predict_proba(X)
        return self.classes_[probabilities.argmax(axis=1)]

    def _training_bags(self, X: Any, y: Any) -> tuple[Bags, np.ndarray]:
        """Bags and class numbers to learn from; remembers the classes and the shape of instances."""
        if y is None:
            raise InputError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        if is_list_of_bags(X):
            X = Bags.from_list(X)
        if isinstance(X, Bags):
            y = column_or_1d(np.asarray(y), warn=True)
            if len(y) != len(X):
                raise InputError(f"y holds {len(y)} labels for {len(X)} bags; give one for each bag, in their order")
            if hasattr(self, "feature_names_in_"):
                del self.feature_names_in_
        else:
            rows, y = validate_data(self, X, y, dtype="numeric")
            X = rows_as_bags(rows)
        check_classification_targets(y)
        self.classes_, targets = np.unique(y, return_inverse=True)
        self.instance_shape_ = tuple(X.instance_shape)
        self.n_features_in_ = int(np.prod(X.instance_shape))
        self.extractor_ = X.extractor
        return X, targets.astype(np.int64)

    def _known_bags(self, X: Any) -> Bags:
        """Bags to predict, of the shape the estimator was trained on."""
        check_is_fitted(self)
        if is_list_of_bags(X):
            X = Bags.from_list(X)
        if not isinstance(X, Bags):
            X = rows_as_bags(validate_data(self, X, reset=False, dtype="numeric"))
        if tuple(X.instance_shape) != self.instance_shape_:
            raise InputError(
                f"{called(X.names, 0)} has {_extent(X.instance_shape)}, the model needs "
                f"{_extent(self.instance_shape_)}: give it instances of the kind it was trained on"
            )
        if None not in (X.extractor, self.extractor_) and X.extractor != self.extractor_:
            raise InputError(
                f"the bags hold features of '{X.extractor}', the model was trained on those of '{self.extractor_}': "
                "they have nothing in common but their width; extract the features again"
            )
        return X


def is_list_of_bags(X: Any) -> bool:
    """Whether this is a list (or object array) of two- or more-dimensional arrays, rather than a 2-D array."""
    if isinstance(X, np.ndarray):
        return X.dtype == object and X.ndim == 1 and len(X) > 0 and np.ndim(X[0]) >= 2
    return isinstance(X, list | tuple) and len(X) > 0 and np.ndim(X[0]) >= 2


def rows_as_bags(rows: np.ndarray) -> Bags:
    """Each row of a 2-D array as a bag of one instance."""
    return Bags(rows, np.arange(len(rows) + 1))


def _extent(shape: tuple[int, ...]) -> str:
    return f"{shape[0]} features" if len(shape) == 1 else "images of " + "×".join(map(str, shape))
