"""The common interface of all bag estimators: the scikit-learn interface, plus a weight for each instance.

    fit(bags, y)   predict(bags)   predict_outputs(bags)   weigh(bags)   save(folder)   load(folder)

Labels are passed as ``y``. The labels stored in ``Bags`` are never read, so predictions cannot depend on them.
Estimators that can score single instances also have ``score_instances(bags)``.
"""

from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data
from torch import Tensor, nn

from bagwise.arguments import check_whole_number
from bagwise.bags import Bags, compute_signatures, name_bag
from bagwise.errors import InputError
from bagwise.estimators.leaks import warn_of_leaks
from bagwise.estimators.serialization import load_estimator, save_estimator
from bagwise.estimators.validation import (
    PARTIAL_FIT,
    BagsLike,
    ValidationBags,
    describe_shape,
    make_singleton_bags,
    match_features,
    pack_bags,
    set_feature_names,
)
from bagwise.nn import make_seed
from bagwise.targets import AUTO, DEFAULT_THRESHOLD, Likelihood, Target, learn_target

Estimator = TypeVar("Estimator", bound="BagEstimator")
# types of the constructor parameters random_state and class_weight
RandomState = int | np.random.RandomState | None
ClassWeight = Literal["balanced"] | dict[Any, float] | None


class BagPredictions(NamedTuple):
    """The outputs and the instance weights that an estimator predicts for bags."""

    outputs: np.ndarray  # (n_bags, n_outputs)
    weights: np.ndarray  # (n_instances,)


class BagEstimator(BaseEstimator, ABC):
    """Abstract base class of all bag estimators, whatever their target is.

    In every method, ``X`` is one of: ``Bags``; a list with one array, data frame or sparse matrix of shape
    (n_instances, …) per bag; an array of shape (n_bags, n_instances, …); or a 2-D array or data frame in which each row
    is a bag with one instance. As in scikit-learn, constructors store their parameters unchanged, and
    ``fit`` checks them.

    Attributes
    ----------
    target_ : Target
        What is predicted: how labels are encoded, the outputs and the metrics.
    likelihood_ : Likelihood
        Converts scores to outputs, and back by the link function.
    instance_shape_ : tuple of int
        Shape of an instance: (n_features,) or (height, width, channels).
    n_features_in_ : int
        Number of values per instance.
    feature_names_in_ : ndarray of str
        Names of the features; defined only if ``X`` had names. Bags to predict are aligned by name.
    extractor_ : str or None
        Name of the feature extractor of the training bags; None if they do not name one.
    seen_ : ndarray of uint64
        Signatures of the training and validation bags, by which ``count_seen`` recognises them.
    seed_ : int
        Seed of this fit, derived from ``random_state``.
    """

    kinds: ClassVar[dict[str, type["BagEstimator"]]] = {}  # subclasses by class name, for ``load``
    supports_checkpoint: ClassVar[bool] = False  # True if ``fit`` accepts validation bags and a checkpoint

    target: Any = AUTO  # kind of the target; a constructor parameter of some subclasses
    positive: Any = None  # the positive class, likewise
    random_state: Any
    target_: Any
    likelihood_: Likelihood
    instance_shape_: tuple[int, ...]
    n_features_in_: int
    extractor_: str | None
    seen_: np.ndarray
    seed_: int

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        BagEstimator.kinds[cls.__name__] = cls

    @abstractmethod
    def fit(self, X: BagsLike, y: npt.ArrayLike | None = None) -> "BagEstimator":
        """Fit the estimator.

        Parameters
        ----------
        X : Bags, list of array-like, or array-like of shape (n_bags, n_features)
            Training bags.
        y : array-like of shape (n_bags,)
            One label per bag.

        Returns
        -------
        BagEstimator
            The estimator itself.
        """

    def check(self, X: BagsLike, y: npt.ArrayLike | None, validation: ValidationBags | None = None) -> None:
        """Raise ``InputError`` if ``fit`` would reject the input; nothing is fitted or changed.

        Parameters
        ----------
        X : Bags, list of array-like, or array-like of shape (n_bags, n_features)
            Training bags.
        y : array-like of shape (n_bags,)
            One label per bag.
        validation : tuple of (bags, labels) or None, default=None
            Validation bags, for estimators that support them.
        """
        clone(self)._check_training_input(X, y)

    def learn_target(self, y: npt.ArrayLike, n_bags: int) -> Target:
        """Learn the target from labels, as ``fit`` does; nothing is fitted or changed.

        Parameters
        ----------
        y : array-like of shape (n_bags,)
            One label per bag.
        n_bags : int
            Expected number of labels.

        Returns
        -------
        Target

        Raises
        ------
        InputError
            If the labels are not of the estimator's kind of target, or the estimator cannot predict them.
        """
        target = learn_target(self.target, y, n_bags, self.positive)
        self._check_target(target)
        return target

    @abstractmethod
    def predict_outputs(self, X: BagsLike) -> np.ndarray:
        """Predict the outputs of the target, such as class probabilities.

        Parameters
        ----------
        X : Bags, list of array-like, or array-like of shape (n_bags, n_features)
            Bags to predict.

        Returns
        -------
        ndarray of shape (n_bags, n_outputs)
            Columns are in the order of ``target_.outputs``.
        """

    @abstractmethod
    def weigh(self, X: BagsLike) -> np.ndarray:
        """Compute the weight of each instance in the prediction of its bag.

        Parameters
        ----------
        X : Bags, list of array-like, or array-like of shape (n_bags, n_features)
            Bags to predict.

        Returns
        -------
        ndarray of shape (n_instances,)
            Non-negative weights that sum to one within each bag.
        """

    @abstractmethod
    def _content(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        """Return the fitted state to save: JSON-compatible metadata, and tensors by name."""

    @abstractmethod
    def _restore(self, metadata: dict[str, Any], tensors: dict[str, Tensor]) -> None:
        """Set the fitted state returned by ``_content``; parameters, classes and shapes are already set."""

    @property
    def partial_fit(self) -> Any:
        """Not supported: raises ``AttributeError``, so that ``hasattr`` is False, with the alternatives."""
        raise AttributeError(PARTIAL_FIT.format(name=type(self).__name__))

    @property
    def decision_threshold(self) -> float:
        """The probability above which the positive one of two classes is predicted."""
        return DEFAULT_THRESHOLD

    def predict(self, X: BagsLike) -> np.ndarray:
        """Predict labels.

        For classes, the most probable class. With two classes and a learned ``decision_threshold``, the positive class
        if its probability is above the threshold.

        Parameters
        ----------
        X : Bags, list of array-like, or array-like of shape (n_bags, n_features)
            Bags to predict.

        Returns
        -------
        ndarray of shape (n_bags,)
            Labels.
        """
        outputs = self.predict_outputs(X)
        return self.target_.decode(self.target_.decide(outputs, self.decision_threshold))

    def predict_with_weights(self, X: BagsLike) -> BagPredictions:
        """Predict outputs and instance weights together, in one pass where possible.

        Parameters
        ----------
        X : Bags, list of array-like, or array-like of shape (n_bags, n_features)
            Bags to predict.

        Returns
        -------
        BagPredictions
            Named tuple of ``outputs``, as from ``predict_outputs``, and ``weights``, as from ``weigh``.
        """
        return BagPredictions(self.predict_outputs(X), self.weigh(X))

    def count_seen(self, X: BagsLike) -> int:
        """Count the bags that the estimator was fitted on, or that ``fit`` used for validation.

        Bags are recognised by their instances, whatever they are named. Metrics of such bags are too optimistic.

        Parameters
        ----------
        X : Bags, list of array-like, or array-like of shape (n_bags, n_features)
            Any bags.

        Returns
        -------
        int
        """
        return int(np.isin(compute_signatures(self._check_bags(X)), self.seen_).sum())

    def save(self, folder: str | Path) -> None:
        """Save the fitted estimator to a folder of safetensors and JSON files; pickle is not used.

        Parameters
        ----------
        folder : str or Path
            Created if it does not exist; an existing model in it is replaced.
        """
        check_is_fitted(self)
        save_estimator(self, folder)

    @classmethod
    def load(cls: type[Estimator], folder: str | Path, **modules: nn.Module) -> Estimator:
        """Load a saved estimator of this class; ``BagEstimator.load`` loads an estimator of any class.

        Parameters
        ----------
        folder : str or Path
            A folder written by ``save``.
        **modules : nn.Module
            Custom modules (``encoder``, ``context``, ``pooling``, ``augmentation``) that the estimator was trained
            with. They are not saved, so they must be passed again; they are compared with the saved description.

        Returns
        -------
        BagEstimator
            The fitted estimator.

        Raises
        ------
        InputError
            If the folder has no such estimator, a file is damaged, or a custom module is missing or different.
        """
        return load_estimator(cls, folder, modules)

    def _check_training_input(self, X: BagsLike, y: npt.ArrayLike | None) -> tuple[Bags, np.ndarray]:
        """Return the bags and their encoded targets, and set the attributes that every fit sets."""
        if y is None:
            raise InputError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        X = pack_bags(X)
        if isinstance(X, Bags):
            set_feature_names(self, X.feature_names)
        else:
            rows, y = validate_data(self, X, y, dtype="numeric")
            X = make_singleton_bags(rows)
        self.target_ = self.learn_target(y, len(X))
        targets = self.target_.encode(y, len(X))
        self.likelihood_ = self._make_likelihood(self.target_)
        self.instance_shape_ = tuple(X.instance_shape)
        self.n_features_in_ = int(np.prod(X.instance_shape))
        self.extractor_ = X.extractor
        self.seen_ = compute_signatures(X)
        self.seed_ = self._make_seed()
        warn_of_leaks(X, targets)
        return X, targets

    def _check_target(self, target: Target) -> None:
        """Reject a target that the method cannot predict."""
        return

    def _compute_scores(self, X: BagsLike) -> np.ndarray:
        """Compute the scores of bags, of shape (n_bags, n_scores)."""
        outputs = self.predict_outputs(X)
        return self.likelihood_.link(outputs)

    def _make_likelihood(self, target: Target) -> Likelihood:
        return target.likelihood

    def _make_seed(self) -> int:
        if self.random_state is None:
            return make_seed()
        if isinstance(self.random_state, int | np.integer):
            return check_whole_number("random_state", self.random_state, minimum=0)
        return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))

    def _check_bags(self, X: BagsLike) -> Bags:
        """Return the bags to predict; reject features that differ from the training bags."""
        check_is_fitted(self)
        X = pack_bags(X)
        if isinstance(X, Bags):
            X = match_features(self, X)
        else:
            X = make_singleton_bags(validate_data(self, X, reset=False, dtype="numeric"))
        if len(X) == 0:
            raise InputError("there are no bags to predict; pass at least one")
        if tuple(X.instance_shape) != self.instance_shape_:
            raise InputError(
                f"{name_bag(X.names, 0)} has {describe_shape(X.instance_shape)}, the model needs "
                f"{describe_shape(self.instance_shape_)} (trained on {self._describe_training_bags()}); "
                "pass instances of that shape"
            )
        if None not in (X.extractor, self.extractor_) and X.extractor != self.extractor_:
            raise InputError(
                f"the bags have features of '{X.extractor}', but the model was trained on features of "
                f"'{self.extractor_}'; features of different extractors are not comparable, even if they have the same "
                f"width: extract the features again with '{self.extractor_}'"
            )
        return X

    def _describe_training_bags(self) -> str:
        features = "" if self.extractor_ is None else f", features of {self.extractor_}"
        return f"bags of {self.target_.describe()}{features}"
