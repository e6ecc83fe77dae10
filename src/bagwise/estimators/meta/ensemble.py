"""An ensemble: one method fitted to the same bags with several seeds, whose predictions are averaged.

The spread measures how much the predictions depend on the seed, not how certain they are.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from joblib import Parallel, delayed, parallel_config
from torch import nn

from bagwise.arguments import check_whole_number
from bagwise.bags import Bags
from bagwise.estimators.base import BagEstimator, RandomState
from bagwise.estimators.meta.base import check_estimators, get_single_estimator
from bagwise.estimators.meta.voting import Voting
from bagwise.estimators.network import BagNetwork
from bagwise.estimators.validation import BagsLike
from bagwise.training import use_one_thread


class Ensemble(Voting):
    """Several copies of a bag estimator with different seeds, whose predictions are averaged.

        p = 1/n Σₘ pₘ        a = 1/n Σₘ aₘ

    Parameters
    ----------
    estimator : BagEstimator or None, default=None
        Any bag estimator; None means ``PooledClassifier()``.
    n : int, default=5
        Number of copies.
    workers : int, default=1
        Number of copies fitted in parallel; results do not depend on it.
    random_state : int, RandomState or None, default=None
        Random seed; pass an int for reproducible results. The seed of each copy is derived from it.

    Attributes
    ----------
    members_ : list of BagEstimator
        The fitted copies.

    Examples
    --------
    >>> from bagwise.data.datasets import load_dataset
    >>> bags = load_dataset("needles", n_bags=60)
    >>> ensemble = Ensemble(n=2, random_state=0).fit(bags, bags.labels)
    >>> ensemble.spread(bags).outputs.shape
    (60, 2)
    """

    def __init__(
        self,
        estimator: BagEstimator | None = None,
        n: int = 5,
        workers: int = 1,
        random_state: RandomState = None,
    ) -> None:
        self.estimator = estimator
        self.n = n
        self.workers = workers
        self.random_state = random_state

    def fit(self, X: BagsLike, y: npt.ArrayLike | None = None) -> "Ensemble":
        """Fit every copy to the same bags.

        Parameters
        ----------
        X : Bags, list of array-like, or array-like of shape (n_bags, n_features)
            Training bags.
        y : array-like of shape (n_bags,)
            One label per bag.

        Returns
        -------
        Ensemble
            The estimator itself.
        """
        bags, targets = self._check_training_input(X, y)
        n = check_whole_number("n", self.n, minimum=1)
        members = self._copy_with_seeds(check_estimators(self._get_estimators()) * n)
        workers = check_whole_number("workers", self.workers, minimum=1)
        # one thread, because the last bits of a sum depend on the number of threads
        with use_one_thread(), _configure_parallel(members[0], workers):
            tasks = (delayed(_fit_member)(member, bags, self.target_.decode(targets)) for member in members)
            self.members_ = list(Parallel()(tasks))
        return self

    def _get_estimators(self) -> dict[str, Any]:
        return get_single_estimator(self.estimator)


def _fit_member(member: BagEstimator, bags: Bags, y: np.ndarray) -> BagEstimator:
    torch.set_num_threads(1)  # again, because a new thread starts with the default number of threads
    return member.fit(bags, y)


def _configure_parallel(member: BagEstimator, workers: int) -> Any:
    """Use threads, which share the bags in memory, for networks without custom modules, and processes otherwise.

    Custom modules may use the global random generator of torch, and scikit-learn holds the global interpreter lock, so
    both need separate processes.
    """
    has_custom_module = any(isinstance(value, nn.Module) for value in member.get_params().values())
    if isinstance(member, BagNetwork) and not has_custom_module:
        return parallel_config("threading", n_jobs=workers)
    return parallel_config("loky", n_jobs=workers, inner_max_num_threads=1)
