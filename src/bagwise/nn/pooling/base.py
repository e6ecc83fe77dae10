"""Interface of poolings σ: one pooled row per bag, and the weight of each instance in it.

    z_b = σ({hₖ : k in bag b})

The result does not depend on the order of the instances within a bag.
"""

from abc import ABC, abstractmethod
from typing import NamedTuple

from jaxtyping import Float
from torch import Tensor, nn

from bagwise.errors import InputError
from bagwise.nn.segments import Offsets, Rows, segment_expand, segment_sizes
from bagwise.targets import Likelihood


class Pooled(NamedTuple):
    """Result of a pooling.

    Attributes
    ----------
    values : Tensor of shape (bags, pooled_width)
        Pooled row of each bag.
    weights : Tensor of shape (instances, heads)
        Weight of each instance; each column sums to one within each bag.
    """

    values: Float[Tensor, "bags pooled_width"]
    weights: Float[Tensor, "instances heads"]


class PoolingSettings(NamedTuple):
    """Sizes of a pooling that is built by name; poolings without these parameters ignore them.

    Attributes
    ----------
    attention_width : int, default=64
        Width L of the hidden layer of attention poolings.
    heads : int, default=1
        Number of attention heads.
    """

    attention_width: int = 64
    heads: int = 1


class Pooling(nn.Module, ABC):
    """Abstract base class of poolings.

    A custom pooling only has to implement ``forward``. The instances of a bag must then fit into memory.
    For larger bags, derive the pooling from ``AdditivePooling``.

    Attributes
    ----------
    title : str
        Name of the pooling in messages.
    """

    title: str

    @abstractmethod
    def forward(self, values: Rows, offsets: Offsets) -> Pooled:
        """Pool the rows of each bag.

        Parameters
        ----------
        values : Tensor of shape (instances, width)
            Rows of all bags, concatenated.
        offsets : Tensor of shape (bags + 1,)
            Bag ``b`` consists of the rows ``offsets[b]`` to ``offsets[b + 1] - 1``.

        Returns
        -------
        Pooled
            Pooled values and instance weights.
        """

    @classmethod
    def for_embeddings(cls, width: int, settings: PoolingSettings) -> "Pooling":
        """Build the pooling for embedding level.

        Parameters
        ----------
        width : int
            Number of columns of the embeddings.
        settings : PoolingSettings
            Sizes of the pooling.

        Returns
        -------
        Pooling
            Pooling of embeddings.
        """
        return cls()

    @classmethod
    def for_scores(cls, width: int, likelihood: Likelihood, settings: PoolingSettings) -> "Pooling":
        """Build the pooling for instance level.

        Parameters
        ----------
        width : int
            Number of columns of the embeddings, from which attention poolings compute the weights.
        likelihood : Likelihood
            Likelihood of the scores.
        settings : PoolingSettings
            Sizes of the pooling.

        Returns
        -------
        Pooling
            Pooling of instance scores.
        """
        return cls()

    def pooled_width(self, width: int) -> int:
        """Return the number of columns of the pooled values for instances with ``width`` columns."""
        return width

    def check(self, level: str, likelihood: Likelihood) -> None:
        """Check that the pooling is defined at a level and for a likelihood.

        Parameters
        ----------
        level : {"embedding", "instance"}
            Level of the model.
        likelihood : Likelihood
            Likelihood of the scores.

        Raises
        ------
        InputError
            If the pooling is not defined for this combination.
        """
        return


class ProbabilityPooling(Pooling):
    """Abstract base class of poolings of instance probabilities, for instance level and two classes only."""

    def check(self, level: str, likelihood: Likelihood) -> None:
        if level != "instance":
            raise InputError(
                f"pooling '{self.title}' combines probabilities of instances, which do not exist at embedding level; "
                "use level='instance' or another pooling"
            )
        if likelihood.name != "bernoulli":
            raise InputError(
                f"pooling '{self.title}' combines probabilities of one positive class, so it needs two classes; "
                f"with the {likelihood.name} likelihood use max, mean, log-sum-exp or attention"
            )


def make_uniform_weights(values: Rows, offsets: Offsets) -> Float[Tensor, "instances 1"]:
    """Return the weight 1/K for each instance of a bag of K instances.

    Parameters
    ----------
    values : Tensor of shape (instances, width)
        Rows of all bags; determine the dtype of the weights.
    offsets : Tensor of shape (bags + 1,)
        Boundaries of the bags.

    Returns
    -------
    Tensor of shape (instances, 1)
        Weights, which sum to one within each bag.
    """
    shares = 1 / segment_sizes(offsets).to(values.dtype)
    return segment_expand(shares[:, None], offsets)


def average_heads(weights: Rows) -> Float[Tensor, "instances 1"]:
    """Average the weights of all heads into one weight per instance, which also sums to one within each bag."""
    return weights.mean(dim=1, keepdim=True)
