"""The interface of every pooling σ: one pooled row per bag, and the weight of each instance in it.

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
        Weight of each instance. Each column sums to one within each bag.
    """

    values: Float[Tensor, "bags pooled_width"]
    weights: Float[Tensor, "instances heads"]


class PoolingSettings(NamedTuple):
    """Sizes used when a pooling is built by name; poolings without these parameters ignore them.

    Attributes
    ----------
    attention_width : int, default=64
        Width L of the hidden layer of an attention.
    heads : int, default=1
        Number of attention heads.
    """

    attention_width: int = 64
    heads: int = 1


class Pooling(nn.Module, ABC):
    """Abstract base class of the poolings.

    A custom pooling only has to implement ``forward``, for bags that fit into memory. For larger bags, derive it from
    ``AdditivePooling``.

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
        """Build the pooling of embeddings with ``width`` columns (embedding level)."""
        return cls()

    @classmethod
    def for_scores(cls, width: int, likelihood: Likelihood, settings: PoolingSettings) -> "Pooling":
        """Build the pooling of instance scores under a likelihood (instance level).

        ``width`` is the number of columns of the embeddings, from which an attention computes its weights.
        """
        return cls()

    def pooled_width(self, width: int) -> int:
        """Return the number of columns of the pooled values for instances with ``width`` columns."""
        return width

    def check(self, level: str, likelihood: Likelihood) -> None:
        """Raise ``InputError`` if the pooling is not defined at this level or under this likelihood."""
        return


class ProbabilityPooling(Pooling):
    """Abstract base class of the poolings of instance probabilities: instance level, two classes only."""

    def check(self, level: str, likelihood: Likelihood) -> None:
        if level != "instance":
            raise InputError(
                f"pooling '{self.title}' combines probabilities of instances, which do not exist at embedding level: "
                "use level='instance' or another pooling"
            )
        if likelihood.name != "bernoulli":
            raise InputError(
                f"pooling '{self.title}' combines probabilities of one positive class, so it needs two classes; "
                f"with the {likelihood.name} likelihood use max, mean, log-sum-exp or attention"
            )


def make_uniform_weights(values: Rows, offsets: Offsets) -> Float[Tensor, "instances 1"]:
    """Return the weight 1/K for each instance of a bag of K instances."""
    shares = 1 / segment_sizes(offsets).to(values.dtype)
    return segment_expand(shares[:, None], offsets)


def average_heads(weights: Rows) -> Float[Tensor, "instances 1"]:
    """Average columns of weights, each of which sums to one within a bag, into one weight per instance."""
    return weights.mean(dim=1, keepdim=True)
