"""An ensemble: one method with several seeds on the same bags, its answers averaged, and how far they differ.

    p = 1/n Σₘ pₘ        a = 1/n Σₘ aₘ        spread = the standard deviation over the members

The spread says how much of an answer is owed to the seed, not how sure the method is of it.
"""

from typing import Any, NamedTuple

import numpy as np
import torch
from joblib import Parallel, delayed, parallel_config
from sklearn.base import clone
from sklearn.utils.metaestimators import available_if
from torch import Tensor, nn

from bagwise import randomness
from bagwise.bags import Bags
from bagwise.errors import InputError
from bagwise.estimators.contract import BagEstimator, Judged
from bagwise.estimators.holding.contract import HoldingEstimator, scores_instances
from bagwise.estimators.holding.delegating import restore_held
from bagwise.estimators.network import BagClassifier
from bagwise.estimators.wrapped.wrapping import scores_of
from bagwise.quantities import whole_number
from bagwise.randomness import Purpose
from bagwise.training.threads import one_thread


class Spread(NamedTuple):
    """How far the members of an ensemble differ: standard deviations over them, zero where all agree."""

    probabilities: np.ndarray  # (n_bags, n_classes)
    weights: np.ndarray  # (n_instances,)


class Ensemble(HoldingEstimator):
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

    members_: list[BagEstimator]

    def __init__(self, estimator: Any = None, n: Any = 5, workers: Any = 1, random_state: Any = None) -> None:
        self.estimator = estimator
        self.n = n
        self.workers = workers
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> "Ensemble":
        """Fit every copy on the same bags."""
        bags, targets = self._training_bags(X, y)
        members = [self._member(place) for place in range(whole_number("n", self.n, least=1))]
        workers = whole_number("workers", self.workers, least=1)
        with one_thread(), _side_by_side(members[0], workers):  # sums of several threads differ in their last bits
            self.members_ = list(Parallel()(delayed(_fit)(member, bags, self.classes_[targets]) for member in members))
        return self

    @property
    def decision_threshold(self) -> float:
        """The mean of the members' thresholds, as their probabilities are averaged."""
        return float(np.mean([member.decision_threshold for member in self.members_]))

    def predict_proba(self, X: Any) -> np.ndarray:
        bags = self._known_bags(X)
        return np.mean([member.predict_proba(bags) for member in self.members_], axis=0)

    def weigh(self, X: Any) -> np.ndarray:
        bags = self._known_bags(X)
        return np.mean([member.weigh(bags) for member in self.members_], axis=0)

    def judge(self, X: Any) -> Judged:
        judged = self._judged(X)
        return Judged(judged.probabilities.mean(axis=0), judged.weights.mean(axis=0))

    def spread(self, X: Any) -> Spread:
        """How far the members differ in probabilities and weights."""
        judged = self._judged(X)
        return Spread(judged.probabilities.std(axis=0), judged.weights.std(axis=0))

    def decision_function(self, X: Any) -> np.ndarray:
        """Scores of the mean probabilities: (n_bags,) for two classes, else (n_bags, n_classes)."""
        scores = scores_of(self.predict_proba(X), self.likelihood_)
        return self.likelihood_.decisions(scores)

    @available_if(scores_instances)
    def score_instances(self, X: Any) -> np.ndarray:
        """Each instance's own score: what a bag of that instance alone would get."""
        bags = self._known_bags(X)
        alone = Bags.trusted(instances=bags.instances, offsets=np.arange(bags.n_instances + 1))
        return self.decision_function(alone)

    def _content(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        _check_modules(self.members_[0])
        contents = [member._content() for member in self.members_]
        numbers = {
            f"member.{place}.{name}": value
            for place, (_, its_numbers) in enumerate(contents)
            for name, value in its_numbers.items()
        }
        return {"members": [its_facts for its_facts, _ in contents]}, numbers

    def _restore(self, facts: dict[str, Any], numbers: dict[str, Tensor]) -> None:
        self.members_ = [self._member(place) for place in range(len(facts["members"]))]
        for place, member in enumerate(self.members_):
            prefix = f"member.{place}."
            its_numbers = {
                name.removeprefix(prefix): value for name, value in numbers.items() if name.startswith(prefix)
            }
            restore_held(self, member, member.random_state, facts["members"][place], its_numbers)

    def _judged(self, X: Any) -> Judged:
        """Of each member, along a first axis."""
        bags = self._known_bags(X)
        judged = [member.judge(bags) for member in self.members_]
        return Judged(np.array([each.probabilities for each in judged]), np.array([each.weights for each in judged]))

    def _member(self, place: int) -> Any:
        seed = randomness.integer(self.seed_, Purpose.INITIALIZATION, place)
        return clone(self._held()).set_params(random_state=seed)


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


def _check_modules(member: BagEstimator) -> None:
    """Refuse modules of the user's own, which ``load`` could not put back into the members."""
    for name, value in member.get_params().items():
        if isinstance(value, nn.Module):
            raise InputError(
                f"the members of the ensemble have a module of your own for {name}, so it cannot be saved as one; "
                "save each of ensemble.members_"
            )
