"""What every estimator of bags promises: scikit-learn's surface, plus the weight of each instance.

    fit(bags, y)   predict(bags)   predict_proba(bags)   weigh(bags)   score(bags, y)   save(folder)   load(folder)

``bags`` are Bags, a list of (n_instances, …) arrays, or a 2-D array, of which each row is a bag of one instance.
Targets arrive as y; the labels that bags carry are never read, so a prediction cannot leak them. Methods that score
instances one by one have ``score_instances(bags)`` too.
"""

from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data
from torch import Tensor

from bagwise import likelihoods, randomness
from bagwise.bags import Bags
from bagwise.bags.checks import called
from bagwise.decisions import EVEN, decide
from bagwise.errors import InputError
from bagwise.estimators import saving
from bagwise.estimators.taking import class_numbers, is_list_of_bags, rows_as_bags
from bagwise.likelihoods import Likelihood
from bagwise.quantities import whole_number

Estimator = TypeVar("Estimator", bound="BagEstimator")


class Judged(NamedTuple):
    """What an estimator says of bags."""

    probabilities: np.ndarray  # (n_bags, n_classes)
    weights: np.ndarray  # (n_instances,)


class BagEstimator(ClassifierMixin, BaseEstimator, ABC):
    """Base of the classifiers of bags."""

    kinds: ClassVar[dict[str, type["BagEstimator"]]] = {}  # by the name of the class, for ``load``

    random_state: Any
    classes_: np.ndarray
    likelihood_: Likelihood
    instance_shape_: tuple[int, ...]
    n_features_in_: int
    extractor_: str | None
    seed_: int

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        BagEstimator.kinds[cls.__name__] = cls

    @abstractmethod
    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities, (n_bags, n_classes), columns in the order of ``classes_``."""

    @abstractmethod
    def weigh(self, X: Any) -> np.ndarray:
        """Each instance's share in its bag's decision, (n_instances,): not negative, sums to one within a bag."""

    @abstractmethod
    def _content(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        """What was learned: facts that fit into JSON, and numbers."""

    @abstractmethod
    def _restore(self, facts: dict[str, Any], numbers: dict[str, Tensor]) -> None:
        """The inverse of ``_content``, for an estimator whose parameters, classes and shapes are set."""

    @property
    def decision_threshold(self) -> float:
        """The probability above which the second of two classes is decided for."""
        return EVEN

    def predict(self, X: Any) -> np.ndarray:
        """The class that is decided for: the likeliest, where no threshold was learned."""
        probabilities = self.predict_proba(X)
        return self.classes_[decide(probabilities, self.decision_threshold)]

    def judge(self, X: Any) -> Judged:
        """Probabilities and weights, for those who need both."""
        return Judged(self.predict_proba(X), self.weigh(X))

    def save(self, folder: str | Path) -> None:
        """Write the fitted estimator to a folder: safetensors and JSON, no pickle."""
        check_is_fitted(self)
        saving.save(self, folder)

    @classmethod
    def load(cls: type[Estimator], folder: str | Path, **modules: Any) -> Estimator:
        """Read a saved estimator; modules of your own (encoder, pooling, augmentation) are passed again and checked.

        ``BagEstimator.load`` reads an estimator of any kind.
        """
        return saving.load(cls, folder, modules)

    def _training_bags(self, X: Any, y: Any) -> tuple[Bags, np.ndarray]:
        """Bags and class numbers to learn from; remembers the classes, the shape of instances and the seed."""
        if y is None:
            raise InputError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        if is_list_of_bags(X):
            X = Bags.from_list(X)
        if isinstance(X, Bags):
            if hasattr(self, "feature_names_in_"):
                del self.feature_names_in_
        else:
            rows, y = validate_data(self, X, y, dtype="numeric")
            X = rows_as_bags(rows)
        self.classes_, targets = class_numbers(y, len(X))
        self._check_classes()
        self.likelihood_ = self._likelihood(len(self.classes_))
        self.instance_shape_ = tuple(X.instance_shape)
        self.n_features_in_ = int(np.prod(X.instance_shape))
        self.extractor_ = X.extractor
        self.seed_ = self._draw_seed()
        return X, targets

    def _check_classes(self) -> None:
        """Refuse classes that the method cannot tell apart."""
        return

    def _likelihood(self, n_classes: int) -> Likelihood:
        """What the method's scores mean."""
        return likelihoods.for_classes(n_classes)

    def _draw_seed(self) -> int:
        if self.random_state is None:
            return randomness.fresh_seed()
        if isinstance(self.random_state, int | np.integer):
            return whole_number("random_state", self.random_state, least=0)
        return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))

    def _known_bags(self, X: Any) -> Bags:
        """Bags to predict, of the shape the estimator was trained on."""
        check_is_fitted(self)
        if is_list_of_bags(X):
            X = Bags.from_list(X)
        if not isinstance(X, Bags):
            X = rows_as_bags(validate_data(self, X, reset=False, dtype="numeric"))
        if len(X) == 0:
            raise InputError("there are no bags to predict; give at least one")
        if tuple(X.instance_shape) != self.instance_shape_:
            raise InputError(
                f"{called(X.names, 0)} has {_extent(X.instance_shape)}, the model needs "
                f"{_extent(self.instance_shape_)} (trained on {self._trained_on()}); give it instances of that kind"
            )
        if None not in (X.extractor, self.extractor_) and X.extractor != self.extractor_:
            raise InputError(
                f"the bags hold features of '{X.extractor}', the model was trained on those of '{self.extractor_}': "
                "they have nothing in common but their width; extract the features again"
            )
        return X

    def _trained_on(self) -> str:
        known = ", ".join(map(str, self.classes_.tolist()[:5]))
        return f"bags of the classes {known}" + ("" if self.extractor_ is None else f", features of {self.extractor_}")


def _extent(shape: tuple[int, ...]) -> str:
    return f"{shape[0]} features" if len(shape) == 1 else "images of " + "×".join(map(str, shape))
