"""Two or more mutually exclusive classes.

    two classes    one score s per bag            p(Y = second class) = sigm(s)
    more           one score per class            p(Y = c) = softmax(s₁, …, s_C)

With two classes, precision, recall, F-score, AUC and average precision are those of the positive class. It is the last
class in increasing order, unless the two names have an obvious positive one (active, positive, tumour, yes, true) or it
is chosen. With more classes, these metrics are the mean over classes.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from bagwise.errors import InputError
from bagwise.targets.base import Output, Target, Threshold
from bagwise.targets.likelihoods import make_likelihood
from bagwise.targets.metrics import decide_classes, make_class_metrics
from bagwise.targets.registry import register_target

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
    main_metrics = ("accuracy", "auc", "f_score", "log_loss")
    sections = ("roc", "precision_recall", "confusion", "learning", "calibration", "histogram")

    def __init__(self, classes: np.ndarray, positive: Any = None) -> None:
        self.classes = classes
        self.names = [str(label) for label in classes]
        self.likelihood = make_likelihood(len(classes))
        self.is_binary = self.has_threshold = len(classes) == 2
        self.positive = self._find_positive(positive)
        self.shown_output = self.positive if self.is_binary else None
        self.metrics = make_class_metrics(self.positive)
        self.outputs = tuple(
            Output(name=f"probability {name}", title=name, kind="probability", low=0.0, high=1.0) for name in self.names
        )

    @classmethod
    def learn(cls, y: npt.ArrayLike, n_bags: int) -> "ClassTarget":
        labels = check_labels(y, n_bags)
        try:
            check_classification_targets(labels)
            return cls(np.unique(labels))
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

    def encode_names(self, names: Sequence[str]) -> np.ndarray:
        return np.array([self.names.index(name) for name in names], dtype=int)

    def knows_names(self, names: Sequence[str]) -> bool:
        return {*names} <= {*self.names}

    def decode(self, targets: np.ndarray) -> np.ndarray:
        return self.classes[targets]

    def decide(self, outputs: np.ndarray, threshold: Threshold) -> np.ndarray:
        return decide_classes(outputs, threshold)

    def make_strata(self, targets: np.ndarray) -> np.ndarray:
        return targets

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
    try:
        labels = column_or_1d(np.asarray(y), warn=True)
    except ValueError as error:
        raise InputError(f"{error}; y must contain one label per bag") from None
    if len(labels) != n_bags:
        raise InputError(f"y has {len(labels)} labels for {n_bags} bags; pass one label per bag, in the same order")
    return labels
