"""The base of the support vector machines on a kernel between bags.

Their defaults (C = 10, gamma by scikit-learn's rule, a minimax power of 2) were set on three sets that are none of the
paper's five, ucsb-breast, newsgroups-1 and brown-creeper: one setting for all, within noise of the best of a grid.
"""

from typing import Any

import numpy as np

from bagwise.bags import Bags
from bagwise.estimators.classical import ClassicalEstimator


class KernelMachine(ClassicalEstimator):
    """Base of the estimators whose kernel compares whole bags; an instance alone is a bag too."""

    def score_instances(self, X: Any) -> np.ndarray:
        """Each instance's own score: what a bag of that instance alone would get."""
        bags = self._known_bags(X)
        alone = Bags.trusted(instances=bags.instances, offsets=np.arange(bags.n_instances + 1))
        return self.decision_function(alone)
