"""mi-SVM and MI-SVM (Andrews, Tsochantaridis & Hofmann 2003): support vector machines at the instance level."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.sparse import csr_array

from bagwise.bags import Bags
from bagwise.estimators.base import ClassWeight, RandomState
from bagwise.estimators.classical.alternation import LatentVariables, mark_witnesses
from bagwise.estimators.classical.base import ClassicalEstimator
from bagwise.estimators.classical.hyperplanes import TrainingPoints
from bagwise.estimators.classical.kernel_machine import Gamma
from bagwise.estimators.classical.support_vectors import SupportVectors, compute_costs, fit_support_vectors


@dataclass(frozen=True)
class InstanceLabels(LatentVariables):
    """The latent variables of mi-SVM: the labels, −1 or 1, of the instances of positive bags."""

    offsets: np.ndarray
    positive: np.ndarray  # (n_instances,): whether the bag of the instance is positive
    costs: np.ndarray  # (n_instances,)

    def initial_assignment(self) -> np.ndarray:
        return np.where(self.positive, 1, -1)

    def best_assignment(self, scores: np.ndarray) -> np.ndarray:
        return np.where(self.positive & ((scores > 0) | mark_witnesses(scores, self.offsets)), 1, -1)

    def make_points(self, assignment: np.ndarray) -> TrainingPoints:
        return TrainingPoints(assignment, self.costs)


class MiSVM(ClassicalEstimator):
    """mi-SVM: a support vector machine of instances with latent labels, constrained by the labels of the bags.

        min over f, y   ½|w|² + C Σᵢ max(0, 1 − yᵢ f(xᵢ))        every instance of a negative bag has y = −1,
                                                                every positive bag has at least one y = 1

    (Andrews, Tsochantaridis & Hofmann, *Support vector machines for multiple-instance learning*, NIPS 2003). Algorithm:
    start with y = 1 in positive bags; fit f; in positive bags, set y = sign f, and y = 1 for the instance of maximum f
    if there is no other; repeat until y does not change. This y is optimal for f: the loss is a sum over instances, and
    if a bag has no positive instance, the label of the instance of maximum f is the cheapest to change. The objective
    therefore never increases. For the same reason, "balanced" weights an instance by the class of its bag, not by its
    latent label.

    Two classes only.

    Parameters
    ----------
    C : float, default=1.0
        Cost of errors; a large value fits the training bags more closely.
    kernel : {"rbf", "linear"}, default="rbf"
        The kernel between instances.
    gamma : float or {"scale"}, default="scale"
        γ of the rbf kernel; "scale" means 1 / (number of features · their variance).
    components : int or None, default=None
        Number of landmarks of a Nyström approximation of the kernel; 300 to 1,000 are enough for any number of
        instances. None computes the exact kernel, for up to 30,000 instances.
    class_weight : {"balanced"}, dict or None, default=None
        Factor of each class on the cost. With "balanced", the total cost of errors is the same for positive and
        negative bags. None means a factor of one.
    max_iterations : int, default=100
        Maximum number of fits of a hyperplane.
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
    learned_ : SupportVectors
        The fitted state, with the decision function of instances, ``learned_.function``, and ``learned_.converged``.
    objective_ : ndarray of shape (n_fits,)
        Objective after each fit of a hyperplane.

    Examples
    --------
    >>> from bagwise.data.datasets import load_dataset
    >>> bags = load_dataset("needles", n_bags=60)
    >>> model = MiSVM(random_state=0).fit(bags, bags.labels)
    >>> model.predict(bags).shape, model.score_instances(bags).shape == (bags.n_instances,)
    ((60,), True)
    """

    learns = SupportVectors
    multi_class = False

    def __init__(
        self,
        C: float = 1.0,
        kernel: Literal["rbf", "linear"] = "rbf",
        gamma: Gamma = "scale",
        components: int | None = None,
        class_weight: ClassWeight = None,
        max_iterations: int = 100,
        scaling: Literal["clipped", "standard", "none"] = "clipped",
        calibration: bool = True,
        positive: Any = None,
        random_state: RandomState = None,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.components = components
        self.class_weight = class_weight
        self.max_iterations = max_iterations
        self.scaling = scaling
        self.calibration = calibration
        self.positive = positive
        self.random_state = random_state

    @property
    def objective_(self) -> np.ndarray:
        """Objective after each fit of a hyperplane; it never increases."""
        return self.learned_.objectives

    def _learn(self, bags: Bags, targets: np.ndarray, seed: int) -> SupportVectors:
        return fit_support_vectors(self, bags.instances, self._make_latent(bags, targets == 1), seed)

    def _make_latent(self, bags: Bags, positive: np.ndarray) -> InstanceLabels:
        of_instances = positive[bags.bag_indices]
        costs = compute_costs(self.C, self.class_weight, self._list_labels(), of_instances)
        return InstanceLabels(offsets=bags.offsets, positive=of_instances, costs=costs)


@dataclass(frozen=True)
class Witnesses(LatentVariables):
    """The latent variables of MI-SVM: the share of each instance in its training point.

    Each positive bag is one training point, and each negative instance is one training point.
    """

    offsets: np.ndarray  # of the rows of each point
    positive: np.ndarray  # (n_points,)
    costs: np.ndarray  # (n_points,)

    def initial_assignment(self) -> np.ndarray:
        sizes = np.diff(self.offsets)
        return np.repeat(1.0 / sizes, sizes)

    def best_assignment(self, scores: np.ndarray) -> np.ndarray:
        return mark_witnesses(scores, self.offsets).astype(float)

    def make_points(self, assignment: np.ndarray) -> TrainingPoints:
        layout = (assignment, np.arange(len(assignment)), self.offsets)
        shares = csr_array(layout, shape=(len(self.positive), len(assignment)), copy=True)  # changed in place below
        shares.eliminate_zeros()
        return TrainingPoints(np.where(self.positive, 1, -1), self.costs, shares)


class MISVM(ClassicalEstimator):
    """MI-SVM: a support vector machine of instances, in which one witness represents each positive bag.

        min over f   ½|w|² + C Σ_positive bags max(0, 1 − maxₖ f(xₖ)) + C Σ_instances of negative bags max(0, 1 + f(xᵢ))

    (Andrews, Tsochantaridis & Hofmann, *Support vector machines for multiple-instance learning*, NIPS 2003).
    Algorithm: start with the mean of each positive bag as its witness; fit f to the witnesses against all negative
    instances; choose the instance of maximum f as the new witness; repeat until the witnesses do not change.

    Two choices are specific to this implementation. The article has one slack variable per negative bag; here each
    negative instance has its own, as in an ordinary support vector machine. The mean is computed in the feature space
    of the kernel, where f(mean) = mean of f ≤ max of f, so the first choice of witnesses does not increase the
    objective either (for the linear kernel, it is the mean of the rows).

    Two classes only.

    Parameters
    ----------
    C : float, default=1.0
        Cost of errors; a large value fits the training bags more closely.
    kernel : {"rbf", "linear"}, default="rbf"
        The kernel between instances.
    gamma : float or {"scale"}, default="scale"
        γ of the rbf kernel; "scale" means 1 / (number of features · their variance).
    components : int or None, default=None
        Number of landmarks of a Nyström approximation of the kernel; 300 to 1,000 are enough for any number of
        instances. None computes the exact kernel, for up to 30,000 instances.
    class_weight : {"balanced"}, dict or None, default=None
        Factor of each class on the cost. With "balanced", the total cost of errors is the same for positive and
        negative bags. None means a factor of one.
    max_iterations : int, default=100
        Maximum number of fits of a hyperplane.
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
    learned_ : SupportVectors
        The fitted state, with the decision function of instances, ``learned_.function``, and ``learned_.converged``.
    objective_ : ndarray of shape (n_fits,)
        Objective after each fit of a hyperplane.

    Examples
    --------
    >>> from bagwise.data.datasets import load_dataset
    >>> bags = load_dataset("needles", n_bags=60)
    >>> model = MISVM(random_state=0).fit(bags, bags.labels)
    >>> float(model.weigh(bags)[:bags.sizes[0]].max())
    1.0
    """

    learns = SupportVectors
    multi_class = False

    def __init__(
        self,
        C: float = 1.0,
        kernel: Literal["rbf", "linear"] = "rbf",
        gamma: Gamma = "scale",
        components: int | None = None,
        class_weight: ClassWeight = None,
        max_iterations: int = 100,
        scaling: Literal["clipped", "standard", "none"] = "clipped",
        calibration: bool = True,
        positive: Any = None,
        random_state: RandomState = None,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.components = components
        self.class_weight = class_weight
        self.max_iterations = max_iterations
        self.scaling = scaling
        self.calibration = calibration
        self.positive = positive
        self.random_state = random_state

    @property
    def objective_(self) -> np.ndarray:
        """Objective after each fit of a hyperplane; it never increases."""
        return self.learned_.objectives

    def _learn(self, bags: Bags, targets: np.ndarray, seed: int) -> SupportVectors:
        return fit_support_vectors(self, bags.instances, self._make_latent(bags, targets == 1), seed)

    def _make_latent(self, bags: Bags, positive: np.ndarray) -> Witnesses:
        starts = ~positive[bags.bag_indices]
        starts[bags.offsets[:-1]] = True
        offsets = np.append(np.flatnonzero(starts), bags.n_instances)
        of_points = positive[bags.bag_indices[offsets[:-1]]]
        costs = compute_costs(self.C, self.class_weight, self._list_labels(), of_points)
        return Witnesses(offsets=offsets, positive=of_points, costs=costs)
