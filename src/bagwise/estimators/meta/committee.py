"""A committee: several methods fitted to the same bags, whose predictions are averaged with equal weights.

Methods of different families make errors on different bags, and it is not known in advance which method suits a data
set. The default members were chosen on three data sets that are not in Table 1 of the paper; see
experiments/committee/notes.md for the procedure and the results.
"""

from typing import Any

import numpy.typing as npt

from bagwise.estimators.bag_classifier import BagClassifier
from bagwise.estimators.base import BagEstimator, RandomState
from bagwise.estimators.classical.mi_fv import MiFV
from bagwise.estimators.classical.mi_graph import MiGraph
from bagwise.estimators.classical.minimax_kernel import MinimaxKernel
from bagwise.estimators.meta.base import check_estimators, get_named_estimators
from bagwise.estimators.meta.selected import Selected
from bagwise.estimators.meta.voting import Voting
from bagwise.estimators.validation import BagsLike
from bagwise.training import use_one_thread

SCALINGS = {"scaling": ["standard", "none"]}
NETWORK: dict[str, Any] = {  # for the classical data sets: the most frequent values in the paper's appendix
    "attention_width": 64,
    "epochs": 100,
    "optimizer": "sgd",
    "learning_rate": 5e-4,
    "weight_decay": 0.005,
    "momentum": 0.9,
    "dropout": 0.5,
    "scaling": "standard",
    "validation": None,
    "patience": None,
    "calibration": False,
}


class Committee(Voting):
    """Several bag estimators whose probabilities and instance weights are averaged with equal weights.

        p = 1/n Σₘ pₘ        a = 1/n Σₘ aₘ

    Parameters
    ----------
    estimators : dict of BagEstimator or None, default=None
        The members by name; None means minimax kernel, mi-Graph, miFV and gated attention.
    positive : object, default=None
        The positive one of two classes, for all members; None leaves the choice to the members.
    random_state : int, RandomState or None, default=None
        Random seed; pass an int for reproducible results. The seed of each member is derived from it.

    Attributes
    ----------
    members_ : list of BagEstimator
        The fitted members, in the order of ``estimators``.

    Examples
    --------
    >>> from bagwise.data.datasets import load_dataset
    >>> from bagwise.estimators import MIKernel, PooledClassifier
    >>> bags = load_dataset("needles", n_bags=60)
    >>> two = Committee({"trees": PooledClassifier(), "kernel": MIKernel()}, random_state=0).fit(bags, bags.labels)
    >>> [type(member).__name__ for member in two.members_]
    ['PooledClassifier', 'MIKernel']
    """

    def __init__(
        self,
        estimators: dict[str, BagEstimator] | None = None,
        positive: Any = None,
        random_state: RandomState = None,
    ) -> None:
        self.estimators = estimators
        self.positive = positive
        self.random_state = random_state

    def fit(self, X: BagsLike, y: npt.ArrayLike | None = None) -> "Committee":
        """Fit every member to the same bags.

        Parameters
        ----------
        X : Bags, list of array-like, or array-like of shape (n_bags, n_features)
            Training bags.
        y : array-like of shape (n_bags,)
            One label per bag.

        Returns
        -------
        Committee
            The estimator itself.
        """
        bags, targets = self._check_training_input(X, y)
        members = self._copy_with_seeds(check_estimators(self._get_estimators()))
        with use_one_thread():  # the last bits of a sum depend on the number of threads
            self.members_ = [member.fit(bags, self.target_.decode(targets)) for member in members]
        return self

    def _get_estimators(self) -> dict[str, Any]:
        return get_named_estimators(make_default_members() if self.estimators is None else self.estimators)


def make_default_members() -> dict[str, BagEstimator]:
    """Return new default members; those with kernels select whether to standardise the features."""
    return {
        "minimax kernel": Selected(MinimaxKernel(), SCALINGS),
        "mi-Graph": Selected(MiGraph(), SCALINGS),
        "miFV": MiFV(scaling="standard"),
        "gated attention": BagClassifier(pooling="gated attention", **NETWORK),
    }
