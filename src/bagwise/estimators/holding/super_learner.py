"""A super learner (van der Laan, Polley & Hubbard 2007): several methods vote, heard by how they judge bags held out.

    p = Σₘ vₘ pₘ        v = argmax Σᵢ log Σₘ vₘ pₘ(yᵢ | Xᵢ)        vₘ ≥ 0, Σ v = 1

Each pₘ(yᵢ | Xᵢ) comes from a copy that was fitted without bag i, on folds of the training bags. The problem is convex;
it is solved by expectation maximisation, which never lowers the likelihood:

    vₘ ← 1/n Σᵢ vₘ pₘᵢ / Σₗ vₗ pₗᵢ

A method whose voice is below one in a hundred is not fitted again and has no seat.
"""

from typing import Any

import numpy as np
import torch
from sklearn.base import clone
from torch import Tensor

from bagwise import randomness
from bagwise.bags import Bags
from bagwise.errors import InputError
from bagwise.estimators.contract import BagEstimator
from bagwise.estimators.holding.committee import NETWORK, SCALINGS, default_members
from bagwise.estimators.holding.contract import named
from bagwise.estimators.holding.inner_folds import Folds, inner_folds
from bagwise.estimators.holding.selected import Selected
from bagwise.estimators.holding.voting import Voting
from bagwise.estimators.kernels.set_kernel import MIKernel
from bagwise.estimators.network import BagClassifier
from bagwise.estimators.vectors.vlad import MiVLAD
from bagwise.estimators.wrapped.naive import NaiveClassifier
from bagwise.estimators.wrapped.pooled import PooledClassifier
from bagwise.randomness import Purpose
from bagwise.training.threads import one_thread

SOFTEST = 0.01  # voice of a member
LEAST = 1e-12  # probability: one bag that a method is sure of and wrong about does not silence it for ever
STEPS, STILL = 10_000, 1e-9
ROUNDING = 1e-6


def default_library() -> dict[str, BagEstimator]:
    """The nine methods among which the committee was chosen (experiments/committee/choose.py), new ones each time."""
    return {
        **default_members(),
        "MI-Kernel": Selected(MIKernel(), SCALINGS),
        "miVLAD": MiVLAD(),
        "attention": BagClassifier(pooling="attention", **NETWORK),
        "extra trees": PooledClassifier(),
        "naive": NaiveClassifier(),
    }


class SuperLearner(Voting):
    """Different estimators of bags, their probabilities and weights averaged by voices that are learned.

    estimators : {name: any estimator of bags}; None stands for those of ``default_library()``
    folds : of the training bags, on which the voices are learned; by group where bags have groups
    random_state : a whole number makes every fit the same; each member's seed is drawn from it

    It takes as long as folds + 1 fits of every estimator.

    >>> from bagwise.datasets import load_dataset
    >>> from bagwise.estimators import MIKernel, PooledClassifier
    >>> bags = load_dataset("needles", n_bags=60)
    >>> two = {"trees": PooledClassifier(), "kernel": MIKernel()}
    >>> model = SuperLearner(two, random_state=0).fit(bags, bags.labels)
    >>> sorted(model.voice_by_name_), round(sum(model.voice_by_name_.values()), 6)
    (['kernel', 'trees'], 1.0)
    """

    def __init__(self, estimators: Any = None, folds: Any = 5, random_state: Any = None) -> None:
        self.estimators = estimators
        self.folds = folds
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> "SuperLearner":
        """Learn the voices on folds of these bags, then fit those who have one on all of them."""
        bags, targets = self._training_bags(X, y)
        candidates = self._seated(self._held())
        folds = inner_folds(targets, bags.groups, self.folds, randomness.integer(self.seed_, Purpose.SPLIT, 7))
        with one_thread():  # sums of several threads differ in their last bits
            voices = learn_voices(self._held_out(candidates, bags, targets, folds))
            seated = np.flatnonzero(voices)
            self.members_ = [candidates[number].fit(bags, self.classes_[targets]) for number in seated]
        self.voices_ = voices[seated]
        self.voice_by_name_ = dict(zip(self._library(), voices.tolist(), strict=True))
        return self

    def _held_out(self, candidates: list[BagEstimator], bags: Bags, targets: np.ndarray, folds: Folds) -> np.ndarray:
        """(n_candidates, n_bags held out): the probability of the right class, by copies that did not know the bag."""

        def judged(candidate: BagEstimator, kept: np.ndarray, held: np.ndarray) -> np.ndarray:
            copy = clone(candidate).fit(bags[kept], self.classes_[targets[kept]])
            return copy.predict_proba(bags[held])[np.arange(len(held)), targets[held]]

        return np.array([np.concatenate([judged(each, *fold) for fold in folds]) for each in candidates])

    def _library(self) -> Any:
        return default_library() if self.estimators is None else self.estimators

    def _chosen(self) -> dict[str, Any]:
        return named(self._library())

    def _content(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        facts, numbers = super()._content()
        return {**facts, "voice_by_name": self.voice_by_name_}, {**numbers, "voices": torch.tensor(self.voices_)}

    def _restore(self, facts: dict[str, Any], numbers: dict[str, Tensor]) -> None:
        super()._restore(facts, numbers)
        self.voice_by_name_ = dict(facts["voice_by_name"])
        self.voices_ = numbers["voices"].numpy()
        fits = self.voices_.shape == (len(self.members_),) and (self.voices_ > 0).all()
        if not fits or abs(self.voices_.sum() - 1) > ROUNDING:
            raise InputError("voices are not one positive number for each member, summing to one; save the model again")


def learn_voices(probabilities: np.ndarray) -> np.ndarray:
    """The voices under which what was seen is likeliest; those too soft to matter are zero.

    probabilities : (n_candidates, n): what each thought of what was seen

    >>> learn_voices(np.array([[0.9, 0.8, 0.9], [0.2, 0.3, 0.1]]))
    array([1., 0.])
    """
    seen = probabilities.clip(min=LEAST)
    voices = np.full(len(seen), 1 / len(seen))
    for _ in range(STEPS):
        before, voices = voices, voices * (seen / (voices @ seen)).mean(axis=1)
        if np.abs(voices - before).max() < STILL:
            break
    voices[voices < min(SOFTEST, voices.max())] = 0
    return voices / voices.sum()
