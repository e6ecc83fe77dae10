"""Likelihoods of mutually exclusive classes, whose outputs are probabilities.

Bernoulli     p(positive class) = sigm(s)        one score per bag
Categorical   p(Y = c) = softmax(s₁, …, s_C)     one score per class
"""

import math
from abc import abstractmethod
from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional

from bagwise.errors import InputError
from bagwise.targets.likelihoods import Likelihood, Scores, Targets

LogProbabilities = Float[Tensor, "bags classes"]

MIN_PROBABILITY = 1e-12  # so that the logarithm is finite


class ClassLikelihood(Likelihood):
    """Abstract base class of likelihoods of mutually exclusive classes, whose outputs are probabilities."""

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

    def order_targets(self, targets: np.ndarray) -> np.ndarray:
        """Number the classes so that the one whose log odds are the score is the last.

        Code that knows only scores (compiled kernels, classical methods) learns from these numbers.

        Parameters
        ----------
        targets : numpy.ndarray of int
            Class numbers.

        Returns
        -------
        numpy.ndarray of int
        """
        return targets

    @property
    def ordered(self) -> "ClassLikelihood":
        """The likelihood of the classes as numbered by ``order_targets``."""
        return self

    def outputs(self, scores: Scores) -> Float[Tensor, "bags classes"]:
        return self.log_probabilities(scores).exp()

    def link(self, outputs: np.ndarray) -> np.ndarray:
        return self.scores(clip_log(outputs)).numpy()

    def errors(self, scores: Scores, targets: Targets) -> Float[Tensor, " bags"]:
        return (self.log_probabilities(scores).argmax(dim=1) != targets).to(scores.dtype)

    def densities(self, outputs: np.ndarray, targets: np.ndarray) -> np.ndarray:
        return outputs[np.arange(len(targets)), targets]

    def output_errors(self, outputs: np.ndarray, targets: np.ndarray) -> np.ndarray:
        return outputs.argmax(axis=1) != targets

    def merge_outputs(self, sets: Sequence[Tensor]) -> Tensor:
        return self._merge_log_probabilities(sets).exp()

    def merge_scores(self, sets: Sequence[Tensor]) -> Scores:
        return self.scores(self._merge_log_probabilities(sets))

    def _merge_log_probabilities(self, sets: Sequence[Tensor]) -> LogProbabilities:
        return torch.stack([self.log_probabilities(part) for part in sets]).logsumexp(dim=0) - math.log(len(sets))


class Bernoulli(ClassLikelihood):
    """Likelihood of two classes with one score, the log odds of the positive class: θ(X) = sigm(s) (Ilse et al., 2018).

    Parameters
    ----------
    positive : {0, 1}, default=1
        Number of the positive class.

    Examples
    --------
    >>> Bernoulli().outputs(torch.tensor([[0.0]]))
    tensor([[0.5000, 0.5000]])
    """

    name = "bernoulli"
    n_scores = 1

    def __init__(self, positive: int = 1) -> None:
        self.positive = positive
        self.sign = 1 if positive else -1  # of the score in the log odds of class 1

    @property
    def ordered(self) -> "Bernoulli":
        return Bernoulli()

    def order_targets(self, targets: np.ndarray) -> np.ndarray:
        return targets if self.positive else 1 - targets

    def log_probabilities(self, scores: Scores) -> LogProbabilities:
        return functional.logsigmoid(torch.cat([-self.sign * scores, self.sign * scores], dim=1))

    def scores(self, log_probabilities: LogProbabilities) -> Scores:
        return self.sign * (log_probabilities[:, 1:] - log_probabilities[:, :1])

    def loss(self, scores: Scores, targets: Targets) -> Float[Tensor, " bags"]:
        signs = self.sign * (2 * targets.to(scores.dtype) - 1)
        return -functional.logsigmoid(signs * scores[:, 0])

    def decisions(self, scores: np.ndarray) -> np.ndarray:
        return self.sign * scores[:, 0]

    def score_outputs(self, scores: np.ndarray) -> np.ndarray:
        return np.concatenate([-self.sign * scores, self.sign * scores], axis=1)

    def errors(self, scores: Scores, targets: Targets) -> Float[Tensor, " bags"]:
        return ((self.sign * scores[:, 0] > 0) != targets).to(scores.dtype)


class Categorical(ClassLikelihood):
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

    def loss(self, scores: Scores, targets: Targets) -> Float[Tensor, " bags"]:
        return functional.cross_entropy(scores, targets, reduction="none")

    def score_outputs(self, scores: np.ndarray) -> np.ndarray:
        return scores - scores.mean(axis=1, keepdims=True)


def make_likelihood(n_classes: int, positive: int = 1) -> ClassLikelihood:
    """Return the likelihood for a number of classes: Bernoulli for two, otherwise categorical.

    Parameters
    ----------
    n_classes : int
        Number of classes.
    positive : int, default=1
        Number of the positive one of two classes; ignored for more.

    Returns
    -------
    ClassLikelihood

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
    return Bernoulli(positive) if n_classes == 2 else Categorical(n_classes)


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
