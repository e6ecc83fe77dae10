"""The target of a bag: what is predicted, and everything that depends on it.

    y  ──encode──▶  targets  ──likelihood──▶  loss
    scores  ──likelihood──▶  outputs  ──decide──▶  predicted values
    (targets, outputs)  ──metrics──▶  numbers

A target is learned from the training labels and stored with the model. No code outside this package depends on the kind
of a target: it asks the target. To add a kind, write one class here and register it.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import torch

from bagwise.errors import InputError
from bagwise.targets.likelihoods import Likelihood
from bagwise.targets.outputs import Metric, Metrics, Output, Threshold


class Target(ABC):
    """Abstract base class of targets.

    Attributes
    ----------
    kind : str
        Name of the kind of target, such as "classes".
    outputs : tuple of Output
        The outputs, in the order of their columns.
    likelihood : Likelihood
        Relation between scores, outputs and targets.
    metrics : dict of str to Metric
        The metrics of bags, by name, in the order in which they are computed and written.
    metrics_note : str
        One sentence on what the metrics refer to, such as the positive class; may be empty.
    outputs_name : str
        Name of all outputs together in files, such as "probabilities".
    output_word : str
        Word for what an output belongs to in texts and files, such as "class".
    has_threshold : bool
        Whether the decision depends on a threshold that can be learned.
    has_calibration : bool
        Whether scores of held-out bags can calibrate the outputs.
    has_positive : bool
        Whether ``learn`` accepts the choice of a positive class.
    is_right_or_wrong : bool
        Whether a predicted value is either correct or not.
    shown_output : int or None
        Index of the output that short tables show for every bag; None shows the output of the predicted value.
    main_metrics : tuple of str
        Names of the metrics that short tables show; pairwise differences are computed of the first two.
    headline_metrics : tuple of str
        Names of the metrics at the top of a report; the first sorts the methods of a comparison.
    baselines : dict of str to str
        Methods that a report compares with a model, and the metric by which each is compared.
    sections : tuple of str
        Keys of the figures that a report shows.
    notable_bags : tuple of str
        Keys of the groups of bags that a report shows.
    layers : tuple of str
        Keys of the values that maps and the viewer show for the instances of a bag.
    """

    kind: ClassVar[str]
    outputs_name: ClassVar[str] = "outputs"
    output_word: ClassVar[str] = "output"
    has_calibration: ClassVar[bool] = False
    has_positive: ClassVar[bool] = False
    is_right_or_wrong: ClassVar[bool] = False
    main_metrics: ClassVar[tuple[str, ...]]
    headline_metrics: ClassVar[tuple[str, ...]]
    baselines: ClassVar[dict[str, str]] = {}
    sections: ClassVar[tuple[str, ...]] = ("learning",)
    layers: ClassVar[tuple[str, ...]] = ("weight", "contribution", "output")

    outputs: tuple[Output, ...]
    likelihood: Likelihood
    metrics: dict[str, Metric]
    metrics_note: str = ""
    has_threshold: bool = False
    shown_output: int | None = 0
    notable_bags: tuple[str, ...] = ("highest", "lowest")

    @classmethod
    def accepts(cls, y: npt.ArrayLike) -> bool:
        """Return whether this kind of target is chosen automatically for labels.

        Parameters
        ----------
        y : array-like
            Labels of the training bags.

        Returns
        -------
        bool
            False by default: the kind must be named.
        """
        return False

    @classmethod
    @abstractmethod
    def learn(cls, y: npt.ArrayLike, n_bags: int, positive: Any = None) -> "Target":
        """Learn the target from the labels of the training bags.

        Parameters
        ----------
        y : array-like of shape (n_bags,) or (n_bags, k)
            Labels of the training bags; a structured array with the fields event and time for survival.
        n_bags : int
            Expected number of labels.
        positive : object, default=None
            The positive class, for targets that have one; None chooses it.

        Returns
        -------
        Target

        Raises
        ------
        InputError
            If the labels are not of this kind.
        """

    @abstractmethod
    def encode(self, y: npt.ArrayLike, n_bags: int) -> np.ndarray:
        """Encode labels as numbers.

        Parameters
        ----------
        y : array-like
            Labels.
        n_bags : int
            Expected number of labels.

        Returns
        -------
        ndarray of shape (n_bags, ...)

        Raises
        ------
        InputError
            If a label is unknown to the target, or their number differs from ``n_bags``.
        """

    def encode_names(self, names: Sequence[str | tuple[str, ...]]) -> np.ndarray:
        """Encode labels that were written to a csv file.

        Parameters
        ----------
        names : sequence of str or tuple of str
            Labels as text; numbers by default. For several labels per bag, the tuple of their texts, "nan" if unknown;
            for labels of survival, the texts of the time and the event.

        Returns
        -------
        ndarray of shape (n_bags, ...)

        Raises
        ------
        ValueError
            If a text is no label of the target.
        """
        return self.encode(np.array(names, dtype=float), len(names))

    def decode(self, targets: np.ndarray) -> np.ndarray:
        """Return the labels of encoded targets; the inverse of ``encode``.

        Parameters
        ----------
        targets : ndarray of shape (n_bags, ...)
            Encoded targets.

        Returns
        -------
        ndarray of shape (n_bags, ...)
            The targets themselves by default.
        """
        return targets

    @abstractmethod
    def decide(self, outputs: np.ndarray, threshold: Threshold) -> np.ndarray:
        """Return the predicted values, encoded like targets.

        Parameters
        ----------
        outputs : ndarray of shape (n_bags, n_outputs)
            Outputs of a model.
        threshold : float or ndarray of shape (n_bags,)
            Decision threshold, for targets that have one.

        Returns
        -------
        ndarray of shape (n_bags, ...)
        """

    def make_strata(self, targets: np.ndarray) -> np.ndarray:
        """Return the stratum of each bag, for splits that keep the distribution of the target.

        Parameters
        ----------
        targets : ndarray of shape (n_bags, ...)
            Encoded targets.

        Returns
        -------
        ndarray of shape (n_bags,)
            For classes, their labels. By default, all bags are in one stratum.
        """
        return np.zeros(len(targets), dtype=int)

    def weigh_bags(self, targets: np.ndarray, class_weight: Any, training: np.ndarray) -> np.ndarray:
        """Compute the weight of each bag in the loss.

        Parameters
        ----------
        targets : ndarray of shape (n_bags, ...)
            Encoded targets of the bags.
        class_weight : "balanced", dict or None
            Weight of each class, for targets with classes.
        training : ndarray of shape (n_training_bags, ...)
            Encoded targets of the training bags, from which "balanced" is computed.

        Returns
        -------
        ndarray of float32, of shape (n_bags,)

        Raises
        ------
        InputError
            If ``class_weight`` is invalid, or the target has no classes.
        """
        if class_weight is not None:
            raise InputError(f"class_weight is for classes, but y has {self.describe()}; set class_weight=None")
        return np.ones(len(targets), dtype=np.float32)

    def average_outputs(self, outputs: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
        """Average the outputs of several models.

        Parameters
        ----------
        outputs : ndarray of shape (n_models, n_bags, n_outputs)
            Outputs of each model.
        weights : ndarray of shape (n_models,) or None
            Weights of the models, which sum to one; None means equal weights.

        Returns
        -------
        ndarray of shape (n_bags, n_outputs)
        """
        return np.average(outputs, axis=0, weights=weights)

    def get_key_scores(self, scores: np.ndarray) -> np.ndarray | None:
        """Return decision scores of instances so that key instances should have the highest ones.

        Parameters
        ----------
        scores : ndarray of shape (n_instances,) or (n_instances, n_scores)
            Scores in the form of ``decision_function``.

        Returns
        -------
        ndarray of shape (n_instances,) or None
            None if there is no single score that ranks instances.
        """
        return scores.ravel() if self.likelihood.n_scores == 1 else None

    def find_shown_outputs(self, predicted: np.ndarray) -> np.ndarray:
        """Return the index of the output that short tables show for each bag.

        Parameters
        ----------
        predicted : ndarray of shape (n_bags, ...)
            Predicted values, encoded like targets.

        Returns
        -------
        ndarray of int, of shape (n_bags,)
        """
        return predicted if self.shown_output is None else np.full(len(predicted), self.shown_output)

    def count_labels(self, targets: np.ndarray) -> dict[str, int]:
        """Count the bags of each label, for targets with few labels; empty for others."""
        return {}

    def get_positive(self) -> Any:
        """Return the positive class, as it is passed to ``learn``; None if there is none."""
        return None

    @property
    def neutral_outputs(self) -> np.ndarray:
        """Outputs of shape (n_outputs,) without evidence, at a score of zero: even odds for classes."""
        return self.likelihood.outputs(torch.zeros(1, self.likelihood.n_scores, dtype=torch.float64)).numpy()[0]

    @abstractmethod
    def describe(self) -> str:
        """Return what the target is, for messages: "the classes no, yes"."""

    def to_json(self) -> dict[str, Any]:
        """Return the content of the target as JSON types, without its kind; nothing by default."""
        return {}

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> "Target":
        """Restore a target from the content returned by ``to_json``; reject invalid content."""
        return cls(**content)

    def __reduce__(self) -> Any:
        """Pickle the content as JSON types, because the functions of metrics cannot be pickled."""
        return type(self).from_json, (self.to_json(),)

    @property
    def n_outputs(self) -> int:
        """Number of outputs."""
        return len(self.outputs)

    @property
    def shown_metrics(self) -> list[Metric]:
        """The metrics in the order of tables."""
        return sorted(self.metrics.values(), key=lambda metric: metric.rank)

    def compute_metrics(self, targets: np.ndarray, outputs: np.ndarray, threshold: Threshold) -> Metrics:
        """Compute every metric.

        Parameters
        ----------
        targets : ndarray of shape (n_bags, ...)
            Encoded targets.
        outputs : ndarray of shape (n_bags, n_outputs)
            Outputs of a model.
        threshold : float or ndarray of shape (n_bags,)
            Decision threshold, for targets that have one.

        Returns
        -------
        dict of str to float or None
            Value of each metric; None if it is undefined.
        """
        return {name: metric.compute(targets, outputs, threshold) for name, metric in self.metrics.items()}
