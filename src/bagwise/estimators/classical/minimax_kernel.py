"""The minimax kernel (Gärtner, Flach, Kowalczyk & Smola 2002): bags compared by their bounding boxes."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from bagwise.arguments import check_real_number, check_whole_number
from bagwise.bags import Bags
from bagwise.estimators.base import RandomState
from bagwise.estimators.classical.base import ClassicalEstimator, FittedState
from bagwise.estimators.classical.kernel_machine import Gamma, fit_one_against_rest, resolve_gamma
from bagwise.nn import segment_argmax, segment_max
from bagwise.training import array_to_tensor


@dataclass(frozen=True)
class SupportBoxes(FittedState):
    """The fitted state: the boxes of the support bags and their coefficients."""

    statistics: np.ndarray  # s(X), (n_support, 2 · width)
    coefficients: np.ndarray  # (n_support, n_scores)
    intercepts: np.ndarray  # (n_scores,)
    gamma: float
    power: int

    def scores(self, bags: Bags) -> np.ndarray:
        kernel = compute_box_kernel(compute_boxes(bags), self.statistics, self.gamma, self.power)
        return kernel @ self.coefficients + self.intercepts

    def instance_scores(self, bags: Bags) -> np.ndarray:
        """Score each instance as a bag of its own; shape (n_instances, n_scores)."""
        return self.scores(bags.singletons())

    def shares(self, bags: Bags) -> np.ndarray:
        rows, offsets = array_to_tensor(bags.instances), array_to_tensor(bags.offsets)
        minima, maxima = segment_argmax(-rows, offsets), segment_argmax(rows, offsets)
        return ((minima + maxima).mean(dim=1) / 2).numpy()


def compute_boxes(bags: Bags) -> np.ndarray:
    """Compute the minimum and the maximum of each feature per bag, of shape (n_bags, 2 · width).

    >>> compute_boxes(Bags.from_list([[[1.0, 5.0], [2.0, 3.0]]]))
    array([[1., 3., 2., 5.]])
    """
    rows, offsets = array_to_tensor(bags.instances), array_to_tensor(bags.offsets)
    return np.hstack([-segment_max(-rows, offsets).numpy(), segment_max(rows, offsets).numpy()])


def compute_box_kernel(left: np.ndarray, right: np.ndarray, gamma: float, power: int) -> np.ndarray:
    """Compute the normalised polynomial kernel between boxes."""
    norms = [np.sqrt(1 + gamma * (boxes**2).sum(axis=1)) for boxes in (left, right)]
    return ((1 + gamma * (left @ right.T)) / np.outer(*norms)) ** power


class MinimaxKernel(ClassicalEstimator):
    """Minimax kernel: a support vector machine with the normalised minimax kernel.

        s(X) = (minₐ xₐ₁, …, minₐ x_aD, maxₐ xₐ₁, …, maxₐ x_aD)        k(X, X') = (1 + γ s(X) · s(X'))ᵖ

    normalised by √(k(X, X) k(X', X')) (Gärtner, Flach, Kowalczyk & Smola, *Multi-instance kernels*, ICML 2002). The
    weight of an instance is the share of the coordinates of s(X) that it attains; ties are split equally.

    Parameters
    ----------
    gamma : float or {"scale"}, default="scale"
        γ of the polynomial kernel; "scale" means 1 / (number of coordinates of s · their variance).
    power : int, default=2
        Degree p of the polynomial kernel, at least 1.
    C : float, default=10.0
        Penalty of misclassified bags; a large value fits the training bags more closely.
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
    learned_ : SupportBoxes
        The boxes of the support bags and their coefficients.

    Examples
    --------
    >>> from bagwise.data.datasets import load_dataset
    >>> bags = load_dataset("needles", n_bags=60)
    >>> model = MinimaxKernel(random_state=0).fit(bags, bags.labels)
    >>> model.predict_proba(bags).shape, model.weigh(bags).shape == (bags.n_instances,)
    ((60, 2), True)
    """

    learns = SupportBoxes

    def __init__(
        self,
        gamma: Gamma = "scale",
        power: int = 2,
        C: float = 10.0,
        scaling: Literal["clipped", "standard", "none"] = "clipped",
        calibration: bool = True,
        positive: Any = None,
        random_state: RandomState = None,
    ) -> None:
        self.gamma = gamma
        self.power = power
        self.C = C
        self.scaling = scaling
        self.calibration = calibration
        self.positive = positive
        self.random_state = random_state

    def _learn(self, bags: Bags, targets: np.ndarray, seed: int) -> SupportBoxes:
        boxes = compute_boxes(bags)
        gamma, power = resolve_gamma(self.gamma, boxes), check_whole_number("power", self.power, minimum=1)
        kernel = compute_box_kernel(boxes, boxes, gamma, power)
        duals = fit_one_against_rest(
            kernel, targets, self.likelihood_.n_scores, check_real_number("C", self.C, above=0)
        )
        return SupportBoxes(
            statistics=boxes[duals.support],
            coefficients=duals.coefficients[duals.support],
            intercepts=duals.intercepts,
            gamma=gamma,
            power=power,
        )
