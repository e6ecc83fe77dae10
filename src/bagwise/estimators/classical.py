"""The base of the classical methods: rows scaled by the training bags, a score for each bag, probabilities of it.

A method is one file: its parameters, and ``_learn``, which gives a ``Learned``. All else is done here.
"""

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from bagwise.bags import Bags
from bagwise.errors import InputError
from bagwise.estimators.calibration import check_folds, fit_slope, held_out_scores
from bagwise.estimators.contract import BagEstimator
from bagwise.estimators.learned import Learned, LearnedInstances, from_numbers, numbers_of
from bagwise.inputs import Scaling, scaling
from bagwise.quantities import real_number, yes_or_no


class ClassicalEstimator(BagEstimator):
    """Base of the methods that score bags.

    Every method has these parameters besides its own:

    standardize : learn mean and deviation of each feature (or channel) from the training instances
    calibration : folds of the training bags whose held-out scores set the slope of the probabilities; 0: slope one
    random_state : a whole number makes every fit the same
    """

    learns: ClassVar[type[Learned]]  # what ``_learn`` gives

    standardize: Any
    calibration: Any
    learned_: Learned
    scaling_: Scaling
    slope_: float

    @abstractmethod
    def _learn(self, bags: Bags, targets: np.ndarray, seed: int) -> Learned:
        """Learn from bags of scaled flat rows (n_instances, width) of float64, without labels, and class numbers."""

    def fit(self, X: Any, y: Any = None) -> "ClassicalEstimator":
        """Learn from bags and their labels."""
        bags, targets = self._training_bags(X, y)
        check_folds(self.calibration)
        yes_or_no("standardize", self.standardize)
        self.scaling_ = scaling(bags.instances, self.standardize)
        self.learned_ = self._learn(self._scaled(bags), targets, self.seed_)
        self.slope_ = self._calibrate(bags, targets)
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """Scores: (n_bags,) for two classes, else (n_bags, n_classes)."""
        scores = self._scores(X)
        return self.likelihood_.decisions(scores)

    def predict_proba(self, X: Any) -> np.ndarray:
        scores = torch.from_numpy(self._scores(X)) * self.slope_
        return self.likelihood_.probabilities(scores).numpy()

    def weigh(self, X: Any) -> np.ndarray:
        bags = self._known_bags(X)
        shares = self.learned_.shares(self._scaled(bags))
        return shares / np.add.reduceat(shares, bags.offsets[:-1]).repeat(
            bags.sizes
        )  # so that one alone has exactly all

    def _scores(self, X: Any) -> np.ndarray:
        bags = self._known_bags(X)
        return self.learned_.scores(self._scaled(bags))

    def _scaled(self, bags: Bags) -> Bags:
        return _flat(bags, self.scaling_)

    def _calibrate(self, bags: Bags, targets: np.ndarray) -> float:
        """How steeply probability rises with the score, by scores of bags that were held out; zero stays one half."""

        def score(kept: np.ndarray, held: np.ndarray) -> np.ndarray:
            trial = scaling(bags[kept].instances, self.standardize)
            learned = self._learn(_flat(bags[kept], trial), targets[kept], self.seed_)
            return learned.scores(_flat(bags[held], trial))

        rows, scores = held_out_scores(score, targets, bags.groups, self.calibration, self.seed_)
        return fit_slope(self.likelihood_, scores, targets[rows]) if len(rows) else 1.0

    def _content(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        scale = {name: torch.from_numpy(value) for name, value in self.scaling_._asdict().items()}
        return {"slope": self.slope_}, {**scale, **numbers_of(self.learned_, "learned.")}

    def _restore(self, facts: dict[str, Any], numbers: dict[str, Tensor]) -> None:
        self.slope_ = real_number("slope", facts["slope"])
        self.scaling_ = Scaling(numbers["center"].numpy(), numbers["scale"].numpy())
        self.learned_ = from_numbers(self.learns, numbers, "learned.")


class InstanceEstimator(ClassicalEstimator):
    """Base of the classical methods that score instances one by one, for two classes: positive, and all others.

    They rest on the assumption that a bag is positive if one of its instances is, so a third class means nothing to
    them; the second class in rising order is the positive one.
    """

    learned_: LearnedInstances

    def score_instances(self, X: Any) -> np.ndarray:
        """Each instance's own score, (n_instances,)."""
        bags = self._known_bags(X)
        scores = self.learned_.instance_scores(self._scaled(bags))
        return self.likelihood_.decisions(scores)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def _check_classes(self) -> None:
        if len(self.classes_) > 2:
            raise InputError(
                f"Only binary classification is supported. The type of the target is multiclass: "
                f"{type(self).__name__} asks whether a bag holds a positive instance, and y has {len(self.classes_)} "
                "classes; use attention, a set kernel, or one class against the rest"
            )


def _flat(bags: Bags, by: Scaling) -> Bags:
    """The same bags as scaled flat rows, and nothing else: no labels to leak."""
    return Bags.trusted(instances=by.rows(bags.instances), offsets=bags.offsets)
