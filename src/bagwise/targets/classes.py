"""Two or more mutually exclusive classes.

    two classes    one score s per bag            p(Y = positive class) = sigm(s)
    more           one score per class            p(Y = c) = softmax(s₁, …, s_C)

With two classes, precision, recall, F-score, AUC and average precision are those of the positive class. It is the last
class in increasing order, unless the two names have an obvious positive one (active, positive, tumour, yes, true) or it
is chosen. With more classes, these metrics are the mean over classes.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import column_or_1d

from bagwise.errors import InputError
from bagwise.targets.base import Target
from bagwise.targets.class_likelihoods import make_likelihood
from bagwise.targets.metrics import decide_classes, make_class_metrics
from bagwise.targets.outputs import Output, Threshold
from bagwise.targets.registry import list_kinds, register_target

POSITIVE_BY_PAIR = {  # in lower case
    frozenset({"active", "inactive"}): "active",
    frozenset({"positive", "negative"}): "positive",
    frozenset({"tumour", "normal"}): "tumour",
    frozenset({"tumor", "normal"}): "tumor",
    frozenset({"yes", "no"}): "yes",
    frozenset({"true", "false"}): "true",
}
MAX_SHOWN = 5  # classes in messages


@register_target
class ClassTarget(Target):
    """Two or more classes.

    Parameters
    ----------
    classes : ndarray of shape (n_classes,)
        The distinct labels in increasing order.
    positive : object, default=None
        The positive one of two classes; None chooses it as described above.

    Attributes
    ----------
    classes : ndarray of shape (n_classes,)
        The class labels.
    names : list of str
        The class labels as text.
    positive : int
        Index of the positive class; with more than two classes, of the last one.
    is_binary : bool
        Whether there are two classes.

    Examples
    --------
    >>> target = ClassTarget.learn(["inactive", "active", "inactive"], 3)
    >>> target.encode(["active", "inactive"], 2), target.names[target.positive]
    (array([0, 1]), 'active')
    """

    kind = "classes"
    outputs_name = "probabilities"
    output_word = "class"
    has_calibration = has_positive = is_right_or_wrong = True
    main_metrics = ("accuracy", "auc", "balanced_accuracy", "log_loss", "f_score")
    headline_metrics = ("auc", "accuracy", "average_precision")
    baselines = {"majority": "log_loss", "extra trees": "auc"}  # noqa: RUF012 (never changed)
    sections = ("roc", "precision_recall", "confusion", "learning", "calibration", "histogram")
    layers = ("weight", "contribution", "probability")

    def __init__(self, classes: np.ndarray, positive: Any = None) -> None:
        self.classes = classes
        self.names = [str(label) for label in classes]
        self.is_binary = self.has_threshold = len(classes) == 2
        self.positive = self._find_positive(positive)
        self.likelihood = make_likelihood(len(classes), self.positive)
        self.metrics = make_class_metrics(self.positive)
        self.outputs = tuple(
            Output(name=f"probability {name}", title=name, kind="probability", low=0.0, high=1.0) for name in self.names
        )
        if self.is_binary:
            self.shown_output = self.positive
            self.notable_bags = ("true positives", "false negatives", "false positives", "true negatives")
            positive_name = self.names[self.positive]
            self.metrics_note = (
                f"Precision, recall, F-score and average precision are those of the positive class, {positive_name}."
            )
        else:
            self.shown_output = None
            self.notable_bags = ("correct", "wrong")
            self.metrics_note = "Precision, recall, F-score, AUC and average precision are means over classes."

    @classmethod
    def accepts(cls, y: npt.ArrayLike) -> bool:
        return _describe_columns(y) is None

    @classmethod
    def learn(cls, y: npt.ArrayLike, n_bags: int, positive: Any = None) -> "ClassTarget":
        labels = check_labels(y, n_bags)
        if type_of_target(labels) == "continuous":
            raise InputError(
                "y does not contain class labels, but continuous numbers, as for regression, which is not supported; "
                "to classify, bin them at thresholds of your choice, e.g. y = numpy.digitize(y, [numpy.median(y)])"
            )
        try:
            check_classification_targets(labels)
            return cls(np.unique(labels), positive)
        except (TypeError, ValueError) as error:
            if isinstance(error, InputError):
                raise
            raise InputError(
                f"y does not contain class labels ({error}); pass integers or strings, all of one type"
            ) from None

    @classmethod
    def unnamed(cls, n_classes: int) -> "ClassTarget":
        """Make a target with the classes 0, 1, …, for predictions whose labels were not stored."""
        return cls(np.arange(n_classes))

    def encode(self, y: npt.ArrayLike, n_bags: int) -> np.ndarray:
        labels = check_labels(y, n_bags)
        number_by_label = {label: number for number, label in enumerate(self.classes.tolist())}
        unknown = {repr(label): None for label in labels.tolist() if label not in number_by_label}
        if unknown:
            known = ", ".join(map(repr, self.classes.tolist()))
            raise InputError(f"labels {', '.join(unknown)} are unknown to the model, which was trained on: {known}")
        return np.array([number_by_label[label] for label in labels.tolist()], dtype=np.int64)

    def encode_names(self, names: Sequence[str | tuple[str, ...]]) -> np.ndarray:
        return np.array([self.names.index(str(name)) for name in names], dtype=int)

    def decode(self, targets: np.ndarray) -> np.ndarray:
        return self.classes[targets]

    def decide(self, outputs: np.ndarray, threshold: Threshold) -> np.ndarray:
        return decide_classes(outputs, threshold, self.positive)

    def make_strata(self, targets: np.ndarray) -> np.ndarray:
        return self.decode(targets)

    def weigh_bags(self, targets: np.ndarray, class_weight: Any, training: np.ndarray) -> np.ndarray:
        weights = weigh_classes(class_weight, self.classes, self.decode(training))
        return weights.astype(np.float32)[targets]

    def get_key_scores(self, scores: np.ndarray) -> np.ndarray | None:
        if not self.is_binary:
            return None
        return scores if self.positive else -scores  # decision scores are those of the last class

    def count_labels(self, targets: np.ndarray) -> dict[str, int]:
        counts = np.bincount(targets, minlength=len(self.names)).tolist()
        return dict(zip(self.names, counts, strict=True))

    def get_positive(self) -> Any:
        return self.classes[self.positive] if self.is_binary else None

    @property
    def neutral_outputs(self) -> np.ndarray:
        return np.full(len(self.names), 1 / len(self.names))

    def describe(self) -> str:
        shown = ", ".join(self.names[:MAX_SHOWN])
        return f"the classes {shown}{' …' * (len(self.names) > MAX_SHOWN)}"

    def to_json(self) -> dict[str, Any]:
        return {
            "dtype": self.classes.dtype.str,
            "values": [label.item() if isinstance(label, np.generic) else label for label in self.classes],
            "positive": self.positive,
        }

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> "ClassTarget":
        values = content["values"]
        classes = np.array(values, dtype=content["dtype"])
        strings = classes.dtype.kind == "O" and all(isinstance(value, str) for value in values)
        if not (strings or classes.dtype.kind in "Uiufb") or len(set(classes.tolist())) != len(values):
            raise ValueError("its classes are not distinct strings or numbers")
        positive = content["positive"]
        if isinstance(positive, bool) or not isinstance(positive, int) or not 0 <= positive < len(values):
            raise ValueError("its positive class is not one of its classes")
        return cls(classes, classes[positive] if len(values) == 2 else None)

    def _find_positive(self, chosen: Any) -> int:
        last = len(self.names) - 1
        if chosen is None:
            lower = [name.lower() for name in self.names]
            obvious = POSITIVE_BY_PAIR.get(frozenset(lower)) if self.is_binary else None
            return last if obvious is None else lower.index(obvious)
        if not self.is_binary:
            raise InputError(
                f"positive={str(chosen)!r}: only one of two classes can be chosen as positive, but y has {last + 1}; "
                "leave it out"
            )
        if str(chosen) not in self.names:
            raise InputError(f"positive={str(chosen)!r} is not a class; choose {' or '.join(map(repr, self.names))}")
        return self.names.index(str(chosen))


def check_labels(y: npt.ArrayLike, n_bags: int) -> np.ndarray:
    """Return labels as a one-dimensional array, and check their number.

    Parameters
    ----------
    y : array-like of shape (n_bags,)
        One label per bag.
    n_bags : int
        Expected number of labels.

    Returns
    -------
    ndarray of shape (n_bags,)
    """
    several = _describe_columns(y)
    if several is not None:
        raise InputError(
            f"y has {several}, but classes need one label per bag; choose one column with --data-option label=NAME, or "
            f"another kind of target with --target (kinds: {', '.join(list_kinds())})"
        )
    try:
        labels = column_or_1d(np.asarray(y), warn=True)
    except ValueError as error:
        raise InputError(f"{error}; y must contain one label per bag") from None
    if len(labels) != n_bags:
        raise InputError(f"y has {len(labels)} labels for {n_bags} bags; pass one label per bag, in the same order")
    return labels


def _describe_columns(y: npt.ArrayLike) -> str | None:
    """Return which columns labels have if they have several, otherwise None."""
    try:
        labels = np.asarray(y)
    except ValueError:  # rows of different lengths, which column_or_1d reports
        return None
    if labels.dtype.names is not None:
        return f"the fields {', '.join(labels.dtype.names)}"
    return f"{labels.shape[1]} columns" if labels.ndim == 2 and labels.shape[1] > 1 else None


def weigh_classes(class_weight: Any, classes: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Compute the weight of each class.

    Parameters
    ----------
    class_weight : "balanced", dict or None
        Weights by class label; "balanced" is inversely proportional to the number of bags; None is one for all.
    classes : ndarray of shape (n_classes,)
        The class labels.
    y : ndarray of shape (n_bags,)
        Labels of the training bags.

    Returns
    -------
    ndarray of shape (n_classes,)
        Finite weights of at least 0, not all of them 0.

    Raises
    ------
    InputError
        If ``class_weight`` is of another type, a weight is negative or not finite, or all are 0.

    Examples
    --------
    >>> weigh_classes({"yes": 3}, np.array(["no", "yes"]), np.array(["no", "yes"]))
    array([1., 3.])
    """
    try:
        weights = compute_class_weight(class_weight, classes=classes, y=y).astype(float)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"class_weight: {error}; it must be None, 'balanced', or a dict with a factor for each class"
        ) from None
    for label, weight in zip(classes.tolist(), weights.tolist(), strict=True):
        if not 0 <= weight < math.inf:
            raise InputError(f"the class_weight of {label!r} is {weight:g}; it must be a finite number of at least 0")
    if not weights.any():
        raise InputError("class_weight is 0 for every class, so nothing can be learned; give at least one class more")
    return weights
