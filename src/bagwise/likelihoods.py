"""Likelihoods: what a score means. Each is one class: scores ⇄ probabilities, and the loss of each bag.

    Bernoulli     p(Y = 1) = sigm(s)                 one score a bag
    Categorical   p(Y = c) = softmax(s₁, …, s_C)     one score a class
    Supervised    the mean of several of these       their scores side by side

No other file asks how many classes there are.
"""

import math
from abc import ABC, abstractmethod

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional

from bagwise.errors import InputError

Scores = Float[Tensor, "bags scores"]
LogProbabilities = Float[Tensor, "bags classes"]

LEAST = 1e-12  # for the logarithm of a probability of zero


class Likelihood(ABC):
    """How scores, probabilities and targets hang together."""

    name: str
    n_scores: int

    @abstractmethod
    def log_probabilities(self, scores: Scores) -> LogProbabilities:
        """Logarithms of the probabilities of all classes."""

    @abstractmethod
    def scores(self, log_probabilities: LogProbabilities) -> Scores:
        """The inverse: scores that have these (normalised) log-probabilities."""

    @abstractmethod
    def loss(self, scores: Scores, targets: Int[Tensor, " bags"]) -> Float[Tensor, " bags"]:
        """The negative log-likelihood of each bag."""

    def probabilities(self, scores: Scores) -> Float[Tensor, "bags classes"]:
        """Probabilities of all classes; each row sums to one."""
        return self.log_probabilities(scores).exp()

    def decisions(self, scores: np.ndarray) -> np.ndarray:
        """Scores in the shape that scikit-learn expects of ``decision_function``."""
        return scores

    def errors(self, scores: Scores, targets: Int[Tensor, " bags"]) -> Float[Tensor, " bags"]:
        """One for each bag whose likeliest class is not its target."""
        return (self.log_probabilities(scores).argmax(dim=1) != targets).to(scores.dtype)


class Bernoulli(Likelihood):
    """Two classes, one score: the log-odds of the second class (the paper's θ(X) = sigm(s)).

    >>> Bernoulli().probabilities(torch.tensor([[0.0]]))
    tensor([[0.5000, 0.5000]])
    """

    name = "bernoulli"
    n_scores = 1

    def log_probabilities(self, scores: Scores) -> LogProbabilities:
        return functional.logsigmoid(torch.cat([-scores, scores], dim=1))

    def scores(self, log_probabilities: LogProbabilities) -> Scores:
        return log_probabilities[:, 1:] - log_probabilities[:, :1]

    def decisions(self, scores: np.ndarray) -> np.ndarray:
        return scores[:, 0]

    def errors(self, scores: Scores, targets: Int[Tensor, " bags"]) -> Float[Tensor, " bags"]:
        return ((scores[:, 0] > 0) != targets).to(scores.dtype)

    def loss(self, scores: Scores, targets: Int[Tensor, " bags"]) -> Float[Tensor, " bags"]:
        signs = 2 * targets.to(scores.dtype) - 1
        return -functional.logsigmoid(signs * scores[:, 0])


class Categorical(Likelihood):
    """Several classes that exclude each other, one score each."""

    name = "categorical"

    def __init__(self, n_classes: int) -> None:
        self.n_scores = n_classes

    def log_probabilities(self, scores: Scores) -> LogProbabilities:
        return functional.log_softmax(scores, dim=1)

    def scores(self, log_probabilities: LogProbabilities) -> Scores:
        return log_probabilities

    def loss(self, scores: Scores, targets: Int[Tensor, " bags"]) -> Float[Tensor, " bags"]:
        return functional.cross_entropy(scores, targets, reduction="none")


class Supervised(Likelihood):
    """Several sets of scores a bag, side by side: their losses add up, their probabilities are averaged.

    >>> Supervised(Bernoulli(), 2).probabilities(torch.tensor([[0.0, 100.0]]))
    tensor([[0.2500, 0.7500]])
    """

    name = "supervised"

    def __init__(self, each: Likelihood, n_sets: int) -> None:
        self.each = each
        self.n_sets = n_sets
        self.n_scores = n_sets * each.n_scores

    def log_probabilities(self, scores: Scores) -> LogProbabilities:
        sets = torch.stack([self.each.log_probabilities(part) for part in self._sets(scores)])
        return sets.logsumexp(dim=0) - math.log(self.n_sets)

    def scores(self, log_probabilities: LogProbabilities) -> Scores:
        return self.each.scores(log_probabilities).repeat(1, self.n_sets)

    def decisions(self, scores: np.ndarray) -> np.ndarray:
        averaged = self.each.scores(self.log_probabilities(torch.from_numpy(scores)))
        return self.each.decisions(averaged.numpy())

    def loss(self, scores: Scores, targets: Int[Tensor, " bags"]) -> Float[Tensor, " bags"]:
        return torch.stack([self.each.loss(part, targets) for part in self._sets(scores)]).sum(dim=0)

    def _sets(self, scores: Scores) -> tuple[Tensor, ...]:
        return scores.split(self.each.n_scores, dim=1)


def logarithms(probabilities: np.ndarray) -> Tensor:
    """Of probabilities that others give; where one is zero, the logarithm of next to nothing."""
    return torch.from_numpy(np.log(np.maximum(probabilities, LEAST, dtype=np.float64)))


def for_classes(n_classes: int) -> Likelihood:
    """The likelihood of labels that take this many values.

    >>> for_classes(2).name, for_classes(5).name
    ('bernoulli', 'categorical')
    """
    if n_classes < 2:
        raise InputError("the labels hold one class only; a classifier needs bags of at least two classes")
    return Bernoulli() if n_classes == 2 else Categorical(n_classes)
