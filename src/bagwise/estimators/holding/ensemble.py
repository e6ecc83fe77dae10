"""An ensemble: one method with several seeds on the same bags, its answers averaged, and how far they differ.

The spread says how much of an answer is owed to the seed, not how sure the method is of it.
"""

from typing import Any

import numpy as np
import torch
from joblib import Parallel, delayed, parallel_config
from torch import nn

from bagwise.bags import Bags
from bagwise.estimators.contract import BagEstimator
from bagwise.estimators.holding.contract import only
from bagwise.estimators.holding.voting import Voting
from bagwise.estimators.network import BagClassifier
from bagwise.quantities import whole_number
from bagwise.training.threads import one_thread


class Ensemble(Voting):
    """Several copies of an estimator of bags that differ in their seed.

    estimator : any estimator of bags; None stands for PooledClassifier()
    n : how many copies
    workers : how many are trained at once, on the same bags; it changes the time, never the numbers
    random_state : a whole number makes every fit the same; each copy's seed is drawn from it

    >>> from bagwise.datasets import load_dataset
    >>> bags = load_dataset("needles", n_bags=60)
    >>> ensemble = Ensemble(n=2, random_state=0).fit(bags, bags.labels)
    >>> ensemble.spread(bags).probabilities.shape
    (60, 2)
    """

    def __init__(self, estimator: Any = None, n: Any = 5, workers: Any = 1, random_state: Any = None) -> None:
        self.estimator = estimator
        self.n = n
        self.workers = workers
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> "Ensemble":
        """Fit every copy on the same bags."""
        bags, targets = self._training_bags(X, y)
        members = self._seated(self._held() * whole_number("n", self.n, least=1))
        workers = whole_number("workers", self.workers, least=1)
        with one_thread(), _side_by_side(members[0], workers):  # sums of several threads differ in their last bits
            self.members_ = list(Parallel()(delayed(_fit)(member, bags, self.classes_[targets]) for member in members))
        return self

    def _chosen(self) -> dict[str, Any]:
        return only(self.estimator)


def _fit(member: BagEstimator, bags: Bags, y: np.ndarray) -> BagEstimator:
    torch.set_num_threads(1)  # also where this is a new thread, which begins with as many as the machine has
    return member.fit(bags, y)


def _side_by_side(member: BagEstimator, workers: int) -> Any:
    """How members are trained at once: in threads, which share the bags, where nothing of one disturbs another.

    Modules of the user's own draw from torch's one generator, and scikit-learn holds Python's lock: they get processes.
    """
    own = any(isinstance(value, nn.Module) for value in member.get_params().values())
    if isinstance(member, BagClassifier) and not own:
        return parallel_config("threading", n_jobs=workers)
    return parallel_config("loky", n_jobs=workers, inner_max_num_threads=1)
