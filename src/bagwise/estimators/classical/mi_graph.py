"""mi-Graph (Zhou, Sun & Li 2009): a support vector machine whose kernel groups similar instances of a bag."""

from typing import Any, Literal

import numpy as np
from scipy.spatial.distance import cdist

from bagwise.arguments import check_real_number
from bagwise.bags import Bags
from bagwise.estimators.base import RandomState
from bagwise.estimators.classical.base import ClassicalEstimator
from bagwise.estimators.classical.kernel_machine import Gamma, SupportBags, resolve_gamma

PAIRS_PER_CHUNK = 1 << 20
TIE = 1e-9  # relative: distances equal to the mean up to rounding count as within it, in any order of the instances


class SupportGraphs(SupportBags):
    """The fitted state of mi-Graph, in which the mass of an instance is proportional to 1 / number of neighbours."""

    @staticmethod
    def masses(bags: Bags, gamma: float) -> np.ndarray:
        """Compute Wₐ / Σ W of each instance, of shape (n_instances,); the masses of a bag sum to one."""
        masses = np.ones(bags.n_instances)
        for bag in np.flatnonzero(bags.sizes > 1):
            inverse_counts = 1 / count_neighbours(bags[bag])
            masses[bags.offsets[bag] : bags.offsets[bag + 1]] = inverse_counts / inverse_counts.sum()
        return masses


def count_neighbours(rows: np.ndarray, pairs_per_chunk: int = PAIRS_PER_CHUNK) -> np.ndarray:
    """Count the instances of a bag within the mean distance of each instance, including the instance itself.

    >>> count_neighbours(np.array([[0.0], [1.0], [9.0]]))
    array([2, 2, 1])
    """
    rows_per_chunk = max(1, pairs_per_chunk // len(rows))
    chunks = [rows[start : start + rows_per_chunk] for start in range(0, len(rows), rows_per_chunk)]
    mean = sum(cdist(chunk, rows).sum() for chunk in chunks) / len(rows) ** 2
    return np.concatenate([(cdist(chunk, rows) <= mean * (1 + TIE)).sum(axis=1) for chunk in chunks])


class MiGraph(ClassicalEstimator):
    """mi-Graph: a support vector machine with the mi-Graph kernel.

        k(X, X') = Σₐ Σ_b Wₐ W'_b k(xₐ, x'_b) / (Σ W · Σ W')        Wₐ = 1 / #{u : ‖xₐ − x_u‖ ≤ δ}

    with k(x, x') = exp(−γ ‖x − x'‖²). A bag is a graph with edges between instances whose distance is at most δ, the
    mean distance in the bag. A cluster of similar instances counts as one instance, so the kernel depends on which
    kinds of instances a bag contains, and not on their number (Zhou, Sun & Li, *Multi-instance learning by treating
    instances as non-I.I.D. samples*, ICML 2009).

    The article does not specify the distance, nor the pairs over which its mean is computed. Here the distance is
    Euclidean, in the scaled features, and the mean is over all ordered pairs, including each instance with itself; an
    instance is its own neighbour. As in the article, the kernel is not normalised to a unit diagonal.

    Parameters
    ----------
    gamma : float or {"scale"}, default="scale"
        γ of the kernel between instances; "scale" means 1 / (number of features · their variance).
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
    learned_ : SupportGraphs
        The support bags and their coefficients.

    Examples
    --------
    >>> from bagwise.data.datasets import load_dataset
    >>> bags = load_dataset("needles", n_bags=60)
    >>> model = MiGraph(random_state=0).fit(bags, bags.labels)
    >>> model.predict_proba(bags).shape, model.weigh(bags).shape == (bags.n_instances,)
    ((60, 2), True)
    """

    learns = SupportGraphs

    def __init__(
        self,
        gamma: Gamma = "scale",
        C: float = 10.0,
        scaling: Literal["clipped", "standard", "none"] = "clipped",
        calibration: bool = True,
        positive: Any = None,
        random_state: RandomState = None,
    ) -> None:
        self.gamma = gamma
        self.C = C
        self.scaling = scaling
        self.calibration = calibration
        self.positive = positive
        self.random_state = random_state

    def _learn(self, bags: Bags, targets: np.ndarray, seed: int) -> SupportGraphs:
        gamma = resolve_gamma(self.gamma, bags.instances)
        return SupportGraphs.learn(
            bags, targets, self.likelihood_.n_scores, gamma, check_real_number("C", self.C, above=0)
        )
