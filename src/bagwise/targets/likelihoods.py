"""Likelihoods: the probabilities of the classes as functions of the scores, and the loss of each bag.

Bernoulli     p(Y = 1) = sigm(s)                 one score per bag
Categorical   p(Y = c) = softmax(s₁, …, s_C)     one score per class
Supervised    the mean of several of these       their scores concatenated
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

MIN_PROBABILITY = 1e-12  # so that the logarithm is finite


class Likelihood(ABC):
    """Base class of likelihoods, which relate scores, probabilities and targets.

    Attributes
    ----------
    name : str
        Name of the likelihood.
    n_scores : int
        Number of scores per bag.
    """

    name: str
    n_scores: int

    @abstractmethod
    def log_probabilities(self, scores: Scores) -> LogProbabilities:
        """Compute the log-probabilities of all classes.

        Parameters
        ----------
        scores : torch.Tensor of shape (n_bags, n_scores)
            Scores of each bag.

        Returns
        -------
        torch.Tensor of shape (n_bags, n_classes)
        """

    @abstractmethod
    def scores(self, log_probabilities: LogProbabilities) -> Scores:
        """Compute scores from log-probabilities; the inverse of the method ``log_probabilities``.

        Parameters
        ----------
        log_probabilities : torch.Tensor of shape (n_bags, n_classes)
            Normalised log-probabilities of all classes.

        Returns
        -------
        torch.Tensor of shape (n_bags, n_scores)
        """

    @abstractmethod
    def loss(self, scores: Scores, targets: Int[Tensor, " bags"]) -> Float[Tensor, " bags"]:
        """Compute the negative log-likelihood of each bag.

        Parameters
        ----------
        scores : torch.Tensor of shape (n_bags, n_scores)
            Scores of each bag.
        targets : torch.Tensor of int, of shape (n_bags,)
            Class of each bag.

        Returns
        -------
        torch.Tensor of shape (n_bags,)
        """

    def probabilities(self, scores: Scores) -> Float[Tensor, "bags classes"]:
        """Compute the probabilities of all classes.

        Parameters
        ----------
        scores : torch.Tensor of shape (n_bags, n_scores)
            Scores of each bag.

        Returns
        -------
        torch.Tensor of shape (n_bags, n_classes)
            Each row sums to one.
        """
        return self.log_probabilities(scores).exp()

    def decisions(self, scores: np.ndarray) -> np.ndarray:
        """Return scores in the shape that scikit-learn expects from ``decision_function``.

        Parameters
        ----------
        scores : numpy.ndarray of shape (n_bags, n_scores)
            Scores of each bag.

        Returns
        -------
        numpy.ndarray of shape (n_bags,) or (n_bags, n_classes)
            One score per bag for two classes with one score, otherwise one score per class.
        """
        return scores

    def errors(self, scores: Scores, targets: Int[Tensor, " bags"]) -> Float[Tensor, " bags"]:
        """Compute the classification error of each bag.

        Parameters
        ----------
        scores : torch.Tensor of shape (n_bags, n_scores)
            Scores of each bag.
        targets : torch.Tensor of int, of shape (n_bags,)
            Class of each bag.

        Returns
        -------
        torch.Tensor of shape (n_bags,)
            1 for a bag whose most probable class is not its target, otherwise 0.
        """
        return (self.log_probabilities(scores).argmax(dim=1) != targets).to(scores.dtype)


class Bernoulli(Likelihood):
    """Likelihood of two classes with one score, the log-odds of the second class: θ(X) = sigm(s) (Ilse et al., 2018).

    Examples
    --------
    >>> Bernoulli().probabilities(torch.tensor([[0.0]]))
    tensor([[0.5000, 0.5000]])
    """

    name = "bernoulli"
    n_scores = 1

    def log_probabilities(self, scores: Scores) -> LogProbabilities:
        return functional.logsigmoid(torch.cat([-scores, scores], dim=1))

    def scores(self, log_probabilities: LogProbabilities) -> Scores:
        return log_probabilities[:, 1:] - log_probabilities[:, :1]

    def loss(self, scores: Scores, targets: Int[Tensor, " bags"]) -> Float[Tensor, " bags"]:
        signs = 2 * targets.to(scores.dtype) - 1
        return -functional.logsigmoid(signs * scores[:, 0])

    def decisions(self, scores: np.ndarray) -> np.ndarray:
        return scores[:, 0]

    def errors(self, scores: Scores, targets: Int[Tensor, " bags"]) -> Float[Tensor, " bags"]:
        return ((scores[:, 0] > 0) != targets).to(scores.dtype)


class Categorical(Likelihood):
    """Likelihood of mutually exclusive classes with one score each.

    Parameters
    ----------
    n_classes : int
        Number of classes.
    """

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
    """Likelihood of several sets of scores per bag (deep supervision): losses are summed, probabilities averaged.

    Parameters
    ----------
    each : Likelihood
        Likelihood of one set of scores.
    n_sets : int
        Number of sets.

    Examples
    --------
    >>> Supervised(Bernoulli(), 2).probabilities(torch.tensor([[0.0, 100.0]]))
    tensor([[0.2500, 0.7500]])
    """

    name = "supervised"

    def __init__(self, each: Likelihood, n_sets: int) -> None:
        self.each = each
        self.n_sets = n_sets
        self.n_scores = n_sets * each.n_scores

    def log_probabilities(self, scores: Scores) -> LogProbabilities:
        sets = torch.stack([self.each.log_probabilities(part) for part in self._split(scores)])
        return sets.logsumexp(dim=0) - math.log(self.n_sets)

    def scores(self, log_probabilities: LogProbabilities) -> Scores:
        return self.each.scores(log_probabilities).repeat(1, self.n_sets)

    def loss(self, scores: Scores, targets: Int[Tensor, " bags"]) -> Float[Tensor, " bags"]:
        return torch.stack([self.each.loss(part, targets) for part in self._split(scores)]).sum(dim=0)

    def decisions(self, scores: np.ndarray) -> np.ndarray:
        averaged = self.each.scores(self.log_probabilities(torch.from_numpy(scores)))
        return self.each.decisions(averaged.numpy())

    def _split(self, scores: Scores) -> tuple[Tensor, ...]:
        return scores.split(self.each.n_scores, dim=1)


def make_likelihood(n_classes: int) -> Likelihood:
    """Return the likelihood for a number of classes: Bernoulli for two, otherwise categorical.

    Parameters
    ----------
    n_classes : int
        Number of classes.

    Returns
    -------
    Likelihood

    Raises
    ------
    InputError
        If there are fewer than two classes.

    Examples
    --------
    >>> make_likelihood(2).name, make_likelihood(5).name
    ('bernoulli', 'categorical')
    """
    if n_classes < 2:
        raise InputError("the labels contain one class only; a classifier needs bags of at least two classes")
    return Bernoulli() if n_classes == 2 else Categorical(n_classes)


def clip_log(probabilities: np.ndarray) -> Tensor:
    """Compute the logarithm of probabilities, clipped from below, because those of other libraries may be zero.

    Parameters
    ----------
    probabilities : numpy.ndarray
        Probabilities.

    Returns
    -------
    torch.Tensor of float64
        ``log(max(probabilities, 1e-12))``.
    """
    return torch.from_numpy(np.log(np.maximum(probabilities, MIN_PROBABILITY, dtype=np.float64)))
