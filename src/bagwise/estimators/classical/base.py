"""The base class of the classical methods: scaled features, one or more scores per bag, calibrated probabilities.

A method is implemented by two classes. A subclass of ``FittedState`` is a frozen dataclass of arrays and numbers, which
can be saved without pickle; scores and weights are pure functions of its fields, so the predictions of a loaded model
are bit-identical. A subclass of ``ClassicalEstimator`` defines the parameters, and ``_learn``, which returns the state.
"""

from abc import ABC, abstractmethod
from dataclasses import fields, is_dataclass
from typing import Any, ClassVar, TypeVar, get_type_hints

import numpy as np
import numpy.typing as npt
import torch
from sklearn.utils.metaestimators import available_if
from torch import Tensor

from bagwise.arguments import check_bool
from bagwise.bags import Bags
from bagwise.errors import InputError
from bagwise.estimators.base import BagEstimator
from bagwise.estimators.calibration import (
    Calibration,
    HeldOutLoss,
    HeldOutOutputs,
    calibrate_held_out,
    compute_class_shares,
    compute_held_out_loss,
    compute_held_out_scores,
    fit_calibration,
    make_identity,
    restore_calibration,
    restore_held_out_loss,
    warn_if_majority_wins,
)
from bagwise.estimators.class_predictor import ClassPredictor
from bagwise.estimators.classical.scaled_bags import check_instances_fit, iterate_scaled_groups, scale_bags
from bagwise.estimators.validation import BagsLike
from bagwise.nn import Scaling, fit_scaling
from bagwise.targets import Target

CALIBRATION_FOLDS = 3

State = TypeVar("State")


class FittedState(ABC):
    """Abstract base class of the fitted state of a classical method.

    Subclasses are frozen dataclasses whose fields are arrays, numbers, or dataclasses of these. In all methods, the
    instances of ``bags`` are scaled, flattened rows of shape (n_instances, width). A state that can score single
    instances also has a method ``instance_scores(bags)``, which returns an array of shape (n_instances, n_scores).
    """

    @abstractmethod
    def scores(self, bags: Bags) -> np.ndarray:
        """Compute the scores of bags.

        Parameters
        ----------
        bags : Bags
            Bags of scaled rows.

        Returns
        -------
        ndarray of shape (n_bags, n_scores)
            For two classes, the log odds of the positive one; else one score per class.
        """

    @abstractmethod
    def shares(self, bags: Bags) -> np.ndarray:
        """Compute the weight of each instance.

        Parameters
        ----------
        bags : Bags
            Bags of scaled rows.

        Returns
        -------
        ndarray of shape (n_instances,)
            Non-negative weights that sum to one within each bag.
        """


def _can_score_instances(estimator: Any) -> bool:
    return hasattr(estimator.learns, "instance_scores")


class ClassicalEstimator(ClassPredictor, BagEstimator):
    """Abstract base class of the classical methods.

    Subclasses set ``learns``, the class of their fitted state, and implement ``_learn``. They have the following
    parameters in addition to their own.

    Parameters
    ----------
    scaling : {"clipped", "standard", "none"}, default="clipped"
        "standard" scales each feature (or channel) to mean 0 and standard deviation 1 in the training instances;
        "clipped" also clips features to the range of the training instances; "none" leaves them unchanged.
    calibration : bool, default=True
        Whether to calibrate the probabilities: slope and offset of the scores are learned by cross-validation.
    positive : object, default=None
        The positive one of two classes; None means the last class, or the obvious one of a common pair.
    random_state : int, RandomState or None, default=None
        Random seed; pass an int for reproducible results.

    Attributes
    ----------
    learned_ : FittedState
        The fitted state of the method.
    scaling_ : Scaling
        Centre and scale of each feature.
    calibration_ : Calibration
        Slope and offset that make log odds of the scores; 1 and 0 without calibration.
    held_out_loss_ : HeldOutLoss or None
        Log loss of the held-out bags, of the method and of the class shares; None without calibration. ``fit`` warns
        (``MajorityWarning``) if the class shares have the lower one.
    held_out_outputs_ : HeldOutOutputs or None
        Outputs of the held-out bags; None without calibration. They are not saved.
    """

    target = "classes"
    learns: ClassVar[type[FittedState]]
    multi_class: ClassVar[bool] = True  # False if the method supports two classes only

    scaling: Any
    calibration: Any
    class_weight: Any = None  # a constructor parameter of some methods
    learned_: Any
    scaling_: Scaling
    calibration_: Calibration
    held_out_loss_: HeldOutLoss | None
    held_out_outputs_: HeldOutOutputs | None

    @abstractmethod
    def _learn(self, bags: Bags, targets: np.ndarray, seed: int) -> FittedState:
        """Fit the method to bags of scaled float64 rows, without labels, and to class numbers.

        Of two classes, number 1 is the positive one, and the score is its log odds.
        """

    def fit(self, X: BagsLike, y: npt.ArrayLike | None = None, **unsupported: Any) -> "ClassicalEstimator":
        """Fit the method.

        Parameters
        ----------
        X : Bags, list of array-like, or array-like of shape (n_bags, n_features)
            Training bags.
        y : array-like of shape (n_bags,)
            One label per bag.
        **unsupported
            Not supported: these methods have no ``sample_weight``, nor other arguments.

        Returns
        -------
        ClassicalEstimator
            The estimator itself.
        """
        if unsupported:
            raise InputError(
                f"{type(self).__name__} does not support {', '.join(unsupported)}; leave it out. sample_weight is "
                "supported by networks, PooledClassifier, NaiveClassifier and MajorityClassifier"
            )
        bags, targets = self._check_training_input(X, y)
        check_bool("calibration", self.calibration)
        check_instances_fit(bags, type(self).__name__)
        self.scaling_ = fit_scaling(bags, self.scaling)
        numbers = self.target_.likelihood.order_targets(targets)
        self.learned_ = self._learn(scale_bags(bags, self.scaling_), numbers, self.seed_)
        self._calibrate(bags, numbers, self.target_.weigh_bags(targets, self.class_weight, targets))
        return self

    def predict_outputs(self, X: BagsLike) -> np.ndarray:
        scores = torch.from_numpy(self._compute_scores(X))
        return self.likelihood_.outputs(scores).numpy()

    def weigh(self, X: BagsLike) -> np.ndarray:
        bags = self._check_bags(X)
        groups = iterate_scaled_groups(bags, self.scaling_)
        return np.concatenate([normalize_weights(self.learned_.shares(group), group) for group in groups])

    @available_if(_can_score_instances)
    def score_instances(self, X: BagsLike) -> np.ndarray:
        """Score each instance as a bag of its own.

        Parameters
        ----------
        X : Bags, list of array-like, or array-like of shape (n_bags, n_features)
            Bags whose instances are scored.

        Returns
        -------
        ndarray of shape (n_instances,) or (n_instances, n_classes)
            One score per instance for two classes, else one score per class.
        """
        bags = self._check_bags(X)
        groups = iterate_scaled_groups(bags, self.scaling_)
        scores = np.concatenate([self.learned_.instance_scores(group) for group in groups])
        return self.likelihood_.decisions(self.calibration_.apply(scores))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self.multi_class
        return tags

    def _check_target(self, target: Target) -> None:
        if not self.multi_class and target.likelihood.n_scores > 1:
            raise InputError(
                "Only binary classification is supported. The type of the target is multiclass: "
                f"{type(self).__name__} predicts whether a bag contains a positive instance, but y has "
                f"{target.describe()}; use attention or a set kernel, or fit one class against the rest"
            )

    def _list_labels(self) -> np.ndarray:
        """List the class labels in the order of the numbers that ``_learn`` gets."""
        return self.target_.decode(self.target_.likelihood.order_targets(np.arange(self.target_.n_outputs)))

    def _compute_scores(self, X: BagsLike) -> np.ndarray:
        groups = iterate_scaled_groups(self._check_bags(X), self.scaling_)
        return self.calibration_.apply(np.concatenate([self.learned_.scores(group) for group in groups]))

    def _calibrate(self, bags: Bags, targets: np.ndarray, weights: np.ndarray) -> None:
        """Fit slope and offset to the scores of held-out bags; warn if the class shares are better than the method."""

        def score_held_out(training: np.ndarray, held_out: np.ndarray) -> np.ndarray:
            scaling = fit_scaling(bags[training], self.scaling)
            learned = self._learn(scale_bags(bags[training], scaling), targets[training], self.seed_)
            return learned.scores(scale_bags(bags[held_out], scaling))

        likelihood, shares = self.target_.likelihood.ordered, compute_class_shares(targets, weights)
        self.calibration_ = make_identity(likelihood.n_scores)
        self.held_out_loss_, self.held_out_outputs_ = None, None
        if not self.calibration:
            return
        held_out = compute_held_out_scores(score_held_out, targets, bags.groups, CALIBRATION_FOLDS, self.seed_)
        if len(held_out.rows):
            known = targets[held_out.rows], shares, weights[held_out.rows]
            self.calibration_ = fit_calibration(likelihood, held_out.scores, *known)
            calibrated = calibrate_held_out(likelihood, held_out, *known)
            self.held_out_loss_ = compute_held_out_loss(likelihood, calibrated, *known)
            outputs = self.likelihood_.outputs(torch.from_numpy(calibrated)).numpy()
            self.held_out_outputs_ = HeldOutOutputs(held_out.rows, outputs)
            warn_if_majority_wins(type(self).__name__, self.held_out_loss_, stacklevel=3)

    def _content(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        state = state_to_arrays(self.learned_, "learned.")
        loss = None if self.held_out_loss_ is None else list(self.held_out_loss_)
        metadata = {"calibration": self.calibration_.to_json(), "held_out_loss": loss}
        return metadata, {**scaling_to_tensors(self.scaling_), **state}

    def _restore(self, metadata: dict[str, Any], tensors: dict[str, Tensor]) -> None:
        self.calibration_ = restore_calibration(metadata["calibration"], self.likelihood_.n_scores)
        self.held_out_loss_ = restore_held_out_loss(metadata["held_out_loss"])
        self.scaling_ = scaling_from_tensors(tensors)
        self.learned_ = state_from_arrays(self.learns, tensors, "learned.")


def normalize_weights(weights: np.ndarray, bags: Bags) -> np.ndarray:
    """Divide weights by their sum in the bag; a single instance has a weight of exactly one."""
    return weights / np.add.reduceat(weights, bags.offsets[:-1]).repeat(bags.sizes)


def scaling_to_tensors(scaling: Scaling) -> dict[str, Tensor]:
    """Return the fields of a scaling as tensors by name."""
    return {name: torch.from_numpy(value) for name, value in scaling._asdict().items() if value is not None}


def scaling_from_tensors(tensors: dict[str, Tensor]) -> Scaling:
    """Invert ``scaling_to_tensors``."""
    return Scaling(**{name: tensors[name].numpy() for name in Scaling._fields if name in tensors})


def state_to_arrays(state: Any, prefix: str = "") -> dict[str, Tensor]:
    """Return the fields of a dataclass as tensors; those of a nested dataclass are named "field.nested field"."""
    tensors: dict[str, Tensor] = {}
    for field in fields(state):
        value, name = getattr(state, field.name), prefix + field.name
        if is_dataclass(value):
            tensors |= state_to_arrays(value, f"{name}.")
        else:
            tensors[name] = torch.from_numpy(np.array(value))
    return tensors


def state_from_arrays(state_class: type[State], tensors: dict[str, Tensor], prefix: str = "") -> State:
    """Invert ``state_to_arrays``."""
    hints = get_type_hints(state_class)
    values: dict[str, Any] = {}
    for field in fields(state_class):  # type: ignore[arg-type]
        hint, name = hints[field.name], prefix + field.name
        if is_dataclass(hint):
            values[field.name] = state_from_arrays(hint, tensors, f"{name}.")  # type: ignore[arg-type]
        else:
            array = tensors[name].numpy()
            values[field.name] = hint(array) if hint in (int, float, bool) else array
    return state_class(**values)
