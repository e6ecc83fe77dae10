"""A committee: several methods on the same bags, each with one voice.

    p = 1/n Σₘ pₘ        a = 1/n Σₘ aₘ

Methods of different families err on different bags, and which one suits a set is not known beforehand. Who sits in it
by default was chosen on three sets that are not of Table 1: experiments/committee/notes.md says how, and with what
result.
"""

from typing import Any

from bagwise.estimators.contract import BagEstimator
from bagwise.estimators.holding.contract import named
from bagwise.estimators.holding.selected import Selected
from bagwise.estimators.holding.voting import Voting
from bagwise.estimators.kernels.graph_kernel import MiGraph
from bagwise.estimators.kernels.minimax_kernel import MinimaxKernel
from bagwise.estimators.network import BagClassifier
from bagwise.estimators.vectors.fisher_vector import MiFV
from bagwise.training.threads import one_thread

SCALINGS = {"standardize": [True, False]}
NETWORK = {  # of the classical sets, as the appendix has it most often
    "attention_width": 64,
    "epochs": 100,
    "optimizer": "sgd",
    "learning_rate": 5e-4,
    "weight_decay": 0.005,
    "momentum": 0.9,
    "dropout": 0.5,
}


def default_members() -> dict[str, BagEstimator]:
    """The members that were chosen, new ones each time: the kernels choose whether features are standardised."""
    return {
        "minimax kernel": Selected(MinimaxKernel(), SCALINGS),
        "mi-Graph": Selected(MiGraph(), SCALINGS),
        "miFV": MiFV(),
        "gated attention": BagClassifier(pooling="gated attention", **NETWORK),
    }


class Committee(Voting):
    """Different estimators of bags whose probabilities and weights are averaged.

    estimators : {name: any estimator of bags}; None stands for those of ``default_members()``
    random_state : a whole number makes every fit the same; each member's seed is drawn from it

    >>> from bagwise.datasets import load_dataset
    >>> from bagwise.estimators import MIKernel, PooledClassifier
    >>> bags = load_dataset("needles", n_bags=60)
    >>> two = Committee({"trees": PooledClassifier(), "kernel": MIKernel()}, random_state=0).fit(bags, bags.labels)
    >>> [type(member).__name__ for member in two.members_]
    ['PooledClassifier', 'MIKernel']
    """

    def __init__(self, estimators: Any = None, random_state: Any = None) -> None:
        self.estimators = estimators
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> "Committee":
        """Fit every member on the same bags."""
        bags, targets = self._training_bags(X, y)
        members = self._seated(self._held())
        with one_thread():  # sums of several threads differ in their last bits
            self.members_ = [member.fit(bags, self.classes_[targets]) for member in members]
        return self

    def _chosen(self) -> dict[str, Any]:
        return named(default_members() if self.estimators is None else self.estimators)
