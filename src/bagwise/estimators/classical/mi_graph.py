"""mi-Graph (Zhou, Sun & Li 2009): a support vector machine whose kernel takes similar instances of a bag together."""

import numpy as np
from scipy.spatial.distance import cdist

from bagwise.arguments import check_real_number
from bagwise.bags import Bags
from bagwise.estimators.base import RandomState
from bagwise.estimators.classical.base import ClassicalEstimator
from bagwise.estimators.classical.kernel_machine import Gamma, SupportBags, resolve_gamma

PAIRS_PER_CHUNK = 1 << 20
TIE = 1e-9  # relative: a distance that equals the mean up to rounding is within it, in any order of the instances


class SupportGraphs(SupportBags):
    """The fitted state of mi-Graph: neighbouring instances share the mass of one; masses sum to one in a bag."""

    @staticmethod
    def masses(bags: Bags, gamma: float) -> np.ndarray:
        """Compute Wₐ / Σ W of each instance, (n_instances,)."""
        masses = np.ones(bags.n_instances)
        for bag in np.flatnonzero(bags.sizes > 1):
            inverse_counts = 1 / count_neighbours(bags[bag])
            masses[bags.offsets[bag] : bags.offsets[bag + 1]] = inverse_counts / inverse_counts.sum()
        return masses


def count_neighbours(rows: np.ndarray, pairs_per_chunk: int = PAIRS_PER_CHUNK) -> np.ndarray:
    """Count the instances of a bag within the mean distance of each instance, itself included.

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

    with k(x, x') = exp(−γ ‖x − x'‖²). A bag is a graph with edges between instances nearer than δ, the mean distance
    in the bag. A cluster of similar instances counts as one, so the kernel depends on which kinds of instances a bag
    holds and not on their number (Zhou, Sun & Li, *Multi-instance learning by treating instances as non-I.I.D.
    samples*, ICML 2009).

    The article leaves the distance and the pairs of the mean open: here it is Euclidean over the scaled features, over
    all ordered pairs, including each instance with itself; an instance is its own neighbour. As in the article, the
    kernel has no unit diagonal.

    Parameters
    ----------
    gamma : float or {"scale"}, default="scale"
        γ of the kernel between instances; "scale" is 1 / (number of features · their variance).
    C : float, default=10.0
        Penalty of a misclassified bag.
    standardize : bool, default=True
        Scale each feature (or channel) to the mean and standard deviation of the training instances.
    calibration : int, default=3
        Number of folds for calibrated probabilities; 0 for none.
    random_state : int, RandomState or None, default=None
        An int makes every fit the same.

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
        standardize: bool = True,
        calibration: int = 3,
        random_state: RandomState = None,
    ) -> None:
        self.gamma = gamma
        self.C = C
        self.standardize = standardize
        self.calibration = calibration
        self.random_state = random_state

    def _learn(self, bags: Bags, targets: np.ndarray, seed: int) -> SupportGraphs:
        gamma = resolve_gamma(self.gamma, bags.instances)
        return SupportGraphs.learn(bags, targets, gamma, check_real_number("C", self.C, above=0))
