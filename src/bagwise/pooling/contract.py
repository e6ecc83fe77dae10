"""What every pooling σ promises: bags' values, and each instance's share in them, whatever the order of instances."""

from abc import ABC, abstractmethod
from typing import NamedTuple

from jaxtyping import Float
from torch import Tensor, nn

from bagwise import segments
from bagwise.errors import InputError
from bagwise.likelihoods import Likelihood
from bagwise.segments import Offsets, Rows


class Pooled(NamedTuple):
    """The result of every pooling."""

    values: Float[Tensor, "bags pooled_width"]
    weights: Float[Tensor, "instances heads"]  # each instance's share; sums to one within a bag


class Settings(NamedTuple):
    """The numbers a pooling may ask for when it is built by name."""

    attention_width: int = 64
    heads: int = 1


class Pooling(nn.Module, ABC):
    """Base of the poolings. ``forward`` takes packed rows; the two constructors say where the pooling makes sense.

    A pooling of your own needs no more than ``forward``, for bags that fit into memory; for larger ones write it as an
    ``AdditivePooling``.
    """

    title: str

    @abstractmethod
    def forward(self, values: Rows, offsets: Offsets) -> Pooled:
        """Pool each bag's rows."""

    @classmethod
    def for_embeddings(cls, width: int, settings: Settings) -> "Pooling":
        """The pooling for embeddings of the given width (embedding level)."""
        return cls()

    @classmethod
    def for_scores(cls, width: int, likelihood: Likelihood, settings: Settings) -> "Pooling":
        """The pooling for instance scores under a likelihood (instance level); ``width`` is that of the embeddings."""
        return cls()

    def pooled_width(self, width: int) -> int:
        """Columns of the pooled values, given those of the instances."""
        return width

    def check(self, level: str, likelihood: Likelihood) -> None:
        """Refuse, with the reason, a level or a likelihood with which the pooling makes no sense."""
        return


class ProbabilityPooling(Pooling):
    """Base of the poolings that combine probabilities that an instance is positive: instance level, two classes."""

    def check(self, level: str, likelihood: Likelihood) -> None:
        if level != "instance":
            raise InputError(
                f"{self.title} combines probabilities, and embeddings are none: use level='instance' or another pooling"
            )
        if likelihood.name != "bernoulli":
            raise InputError(
                f"{self.title} combines probabilities of one positive class, so it needs two classes; "
                f"with the {likelihood.name} likelihood use max, mean, log-sum-exp or attention"
            )


def uniform(values: Rows, offsets: Offsets) -> Float[Tensor, "instances 1"]:
    """Weights 1/K."""
    shares = 1 / segments.sizes(offsets).to(values.dtype)
    return segments.spread(shares[:, None], offsets)


def averaged(weights: Rows) -> Float[Tensor, "instances 1"]:
    """One weight an instance from one a column, each column summing to one within its bag."""
    return weights.mean(dim=1, keepdim=True)
