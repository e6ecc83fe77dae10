"""MI-SVM (Andrews, Tsochantaridis & Hofmann 2003): each positive bag is represented by one instance, its witness.

    min over f   ½|w|² + C Σ_positive bags max(0, 1 − maxₖ f(xₖ)) + C Σ_instances of negative bags max(0, 1 + f(xᵢ))

Start with the mean of each positive bag; fit f to the witnesses against all negative instances; take the instance of
the greatest f as witness; repeat until the witnesses stand. Two choices: the article states one slack for each negative
bag, here each negative instance has its own, as in a plain support vector machine; and the mean is taken in the space
of the kernel, where f(mean) = mean of f ≤ max of f, so that the objective cannot rise at the first choice either
(for the linear kernel it is the mean of the rows).
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from bagwise.bags import Bags
from bagwise.estimators.svm.alternation import Unknown, winners
from bagwise.estimators.svm.planes import Points
from bagwise.estimators.svm.support_vectors import SupportVectorEstimator


@dataclass(frozen=True)
class Witnesses(Unknown):
    """Each instance's share in its point: a positive bag is one point, every negative instance is one of its own."""

    offsets: np.ndarray  # of the rows of each point
    positive: np.ndarray  # (n_points,)
    costs: np.ndarray  # (n_points,)

    def first(self) -> np.ndarray:
        sizes = np.diff(self.offsets)
        return np.repeat(1.0 / sizes, sizes)

    def best(self, scores: np.ndarray) -> np.ndarray:
        return winners(scores, self.offsets).astype(float)

    def points(self, guess: np.ndarray) -> Points:
        layout = (guess, np.arange(len(guess)), self.offsets)
        shares = csr_array(layout, shape=(len(self.positive), len(guess)), copy=True)  # the next line works in place
        shares.eliminate_zeros()
        return Points(np.where(self.positive, 1, -1), self.costs, shares)


class MISVM(SupportVectorEstimator):
    """MI-SVM: a support vector machine of one witness a positive bag; its parameters are those of the base.

    >>> from bagwise.datasets import load_dataset
    >>> bags = load_dataset("needles", n_bags=60)
    >>> model = MISVM(random_state=0).fit(bags, bags.labels)
    >>> model.weigh(bags)[:bags.sizes[0]].max()
    np.float64(1.0)
    """

    def _unknown(self, bags: Bags, positive: np.ndarray) -> Unknown:
        starts = ~positive[bags.owners]
        starts[bags.offsets[:-1]] = True
        offsets = np.append(np.flatnonzero(starts), bags.n_instances)
        of_points = positive[bags.owners[offsets[:-1]]]
        return Witnesses(offsets, of_points, self._costs(of_points))
