"""Likelihoods: the outputs of a model as functions of its scores, and the loss of each bag.

    scores  ──outputs──▶  outputs  ──link──▶  scores        loss = −log p(target | scores)

Each kind of target has a likelihood: Bernoulli or categorical for classes and, for example, a Poisson likelihood with
one score s and the output exp(s) for counts. ``Supervised`` concatenates several sets of scores (deep supervision).
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Float, Shaped
from torch import Tensor

Scores = Float[Tensor, "bags scores"]
Targets = Shaped[Tensor, "bags ..."]


class Likelihood(ABC):
    """Base class of likelihoods, which relate scores, outputs and targets.

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
    def outputs(self, scores: Scores) -> Float[Tensor, "bags outputs"]:
        """Compute the outputs, such as the probabilities of all classes.

        Parameters
        ----------
        scores : torch.Tensor of shape (n_bags, n_scores)
            Scores of each bag.

        Returns
        -------
        torch.Tensor of shape (n_bags, n_outputs)
        """

    @abstractmethod
    def link(self, outputs: np.ndarray) -> np.ndarray:
        """Compute scores from outputs (link function); the inverse of the method ``outputs``.

        Parameters
        ----------
        outputs : numpy.ndarray of shape (n_bags, n_outputs)
            Outputs; those of other libraries may be at the end of their range, such as a probability of zero.

        Returns
        -------
        numpy.ndarray of shape (n_bags, n_scores)
            Finite scores.
        """

    @abstractmethod
    def loss(self, scores: Scores, targets: Targets) -> Float[Tensor, " bags"]:
        """Compute the negative log-likelihood of each bag.

        Parameters
        ----------
        scores : torch.Tensor of shape (n_bags, n_scores)
            Scores of each bag.
        targets : torch.Tensor of shape (n_bags, ...)
            Encoded target of each bag.

        Returns
        -------
        torch.Tensor of shape (n_bags,)
        """

    @abstractmethod
    def errors(self, scores: Scores, targets: Targets) -> Float[Tensor, " bags"]:
        """Compute the error of each bag, which learning curves show beside the loss.

        Parameters
        ----------
        scores : torch.Tensor of shape (n_bags, n_scores)
            Scores of each bag.
        targets : torch.Tensor of shape (n_bags, ...)
            Encoded target of each bag.

        Returns
        -------
        torch.Tensor of shape (n_bags,)
            For classes, 1 for a bag whose most probable class is not its target, otherwise 0.
        """

    def decisions(self, scores: np.ndarray) -> np.ndarray:
        """Return scores in the shape that scikit-learn expects from ``decision_function``.

        Parameters
        ----------
        scores : numpy.ndarray of shape (n_bags, n_scores)
            Scores of each bag.

        Returns
        -------
        numpy.ndarray of shape (n_bags,) or (n_bags, n_scores)
            One score per bag for two classes, otherwise all scores.
        """
        return scores

    def score_outputs(self, scores: np.ndarray) -> np.ndarray:
        """Compute a score of each output, a linear function of the scores; contributions are parts of these.

        Parameters
        ----------
        scores : numpy.ndarray of shape (n_bags, n_scores)
            Scores of each bag.

        Returns
        -------
        numpy.ndarray of shape (n_bags, n_outputs)
        """
        return scores

    def densities(self, outputs: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """Compute the probability (or density) that outputs assign to the targets.

        Parameters
        ----------
        outputs : numpy.ndarray of shape (n_bags, n_outputs)
            Outputs of any estimator.
        targets : numpy.ndarray of shape (n_bags, ...)
            Encoded targets.

        Returns
        -------
        numpy.ndarray of shape (n_bags,)
        """
        return np.exp(-self.loss(torch.from_numpy(self.link(outputs)), torch.from_numpy(targets)).numpy())

    def output_errors(self, outputs: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """Compute the error of each bag from outputs, as ``errors`` does from scores.

        Parameters
        ----------
        outputs : numpy.ndarray of shape (n_bags, n_outputs)
            Outputs of any estimator.
        targets : numpy.ndarray of shape (n_bags, ...)
            Encoded targets.

        Returns
        -------
        numpy.ndarray of shape (n_bags,)
        """
        return self.errors(torch.from_numpy(self.link(outputs)), torch.from_numpy(targets)).numpy()

    def merge_outputs(self, sets: Sequence[Tensor]) -> Tensor:
        """Average the outputs of several sets of scores.

        Parameters
        ----------
        sets : sequence of torch.Tensor of shape (n_bags, n_scores)
            Scores.

        Returns
        -------
        torch.Tensor of shape (n_bags, n_outputs)
        """
        return torch.stack([self.outputs(part) for part in sets]).mean(dim=0)

    def merge_scores(self, sets: Sequence[Tensor]) -> Tensor:
        """Compute the scores whose outputs are the average of the outputs of several sets of scores.

        Parameters
        ----------
        sets : sequence of torch.Tensor of shape (n_bags, n_scores)
            Scores.

        Returns
        -------
        torch.Tensor of shape (n_bags, n_scores)
        """
        return torch.from_numpy(self.link(self.merge_outputs(sets).numpy()))

    def combine_scores(self, scores: Scores) -> Float[Tensor, "bags target_scores"]:
        """Combine the scores of a network into those of the target, which are calibrated and explained.

        Parameters
        ----------
        scores : torch.Tensor of shape (n_bags, n_scores)
            Scores of each bag.

        Returns
        -------
        torch.Tensor
            The same scores by default; one set of scores if there are several.
        """
        return scores


class Supervised(Likelihood):
    """Likelihood of several sets of scores per bag (deep supervision): losses are summed, outputs averaged.

    Parameters
    ----------
    each : Likelihood
        Likelihood of one set of scores.
    n_sets : int
        Number of sets.

    Examples
    --------
    >>> from bagwise.targets import Bernoulli
    >>> Supervised(Bernoulli(), 2).outputs(torch.tensor([[0.0, 100.0]]))
    tensor([[0.2500, 0.7500]])
    """

    name = "supervised"

    def __init__(self, each: Likelihood, n_sets: int) -> None:
        self.each = each
        self.n_sets = n_sets
        self.n_scores = n_sets * each.n_scores

    def outputs(self, scores: Scores) -> Float[Tensor, "bags outputs"]:
        return self.each.merge_outputs(self._split(scores))

    def link(self, outputs: np.ndarray) -> np.ndarray:
        return np.tile(self.each.link(outputs), (1, self.n_sets))

    def loss(self, scores: Scores, targets: Targets) -> Float[Tensor, " bags"]:
        return torch.stack([self.each.loss(part, targets) for part in self._split(scores)]).sum(dim=0)

    def errors(self, scores: Scores, targets: Targets) -> Float[Tensor, " bags"]:
        outputs = self.outputs(scores).detach().cpu().numpy()
        return torch.from_numpy(self.each.output_errors(outputs, targets.cpu().numpy())).to(scores)

    def combine_scores(self, scores: Scores) -> Float[Tensor, "bags target_scores"]:
        return self.each.merge_scores(self._split(scores))

    def score_outputs(self, scores: np.ndarray) -> np.ndarray:
        return self.each.score_outputs(self.combine_scores(torch.from_numpy(scores)).numpy())

    def _split(self, scores: Scores) -> tuple[Tensor, ...]:
        return scores.split(self.each.n_scores, dim=1)
