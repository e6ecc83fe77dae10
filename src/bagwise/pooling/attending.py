"""Attention in general (Ilse et al. 2018, eq. 7): a weighted mean whose weights are learned.

    z = Σₖ aₖ hₖ        a = softmax(relevance(h₁), …, relevance(h_K))

Each attention is one way to find an embedding relevant; with several heads there is a column of weights for each, and
the pooled heads lie side by side. At instance level the weights come from the embeddings, and what is averaged are
the instances' scores.
"""

from abc import abstractmethod

from jaxtyping import Float
from torch import Tensor, nn

from bagwise import segments
from bagwise.likelihoods import Likelihood
from bagwise.pooling.additive import AdditivePooling, Exponents, Terms, Totals
from bagwise.pooling.contract import Pooled, Pooling, Settings
from bagwise.quantities import whole_number
from bagwise.segments import Offsets, Rows


class AttentionPooling(AdditivePooling):
    """Base of the attentions: they differ only in how relevant they find an embedding."""

    def __init__(self, width: int, attention_width: int = 64, heads: int = 1) -> None:
        super().__init__()
        whole_number("width", width, least=1)
        whole_number("attention_width", attention_width, least=1)
        self.heads = whole_number("heads", heads, least=1)

    @abstractmethod
    def relevance(self, embeddings: Rows) -> Float[Tensor, "instances heads"]:
        """The weights before the softmax."""

    def attend(self, embeddings: Rows, offsets: Offsets) -> Float[Tensor, "instances heads"]:
        """The weights a: they sum to one within each bag, for each head."""
        return segments.softmax(self.relevance(embeddings), offsets)

    def forward(self, values: Rows, offsets: Offsets) -> Pooled:
        weights = self.attend(values, offsets)
        return Pooled(segments.weighted_sum(values, weights, offsets), weights)

    def terms(self, values: Rows) -> Terms:
        return Terms(self.relevance(values), values)

    def conclude(self, totals: Totals) -> Float[Tensor, "bags pooled_width"]:
        return by_head(totals).flatten(1)

    def weigh(self, exponents: Exponents, totals: Totals, offsets: Offsets) -> Float[Tensor, "instances heads"]:
        return self.shares(exponents, totals, offsets)

    @classmethod
    def for_embeddings(cls, width: int, settings: Settings) -> "Pooling":
        return cls(width, settings.attention_width, settings.heads)

    @classmethod
    def for_scores(cls, width: int, likelihood: Likelihood, settings: Settings) -> "Pooling":
        return cls(width, settings.attention_width, settings.heads)

    def pooled_width(self, width: int) -> int:
        return self.heads * width


class AttendedScores(AdditivePooling):
    """Attention at instance level: weights from the embeddings, applied to the scores of a classifier."""

    title = "attended scores"

    def __init__(self, attention: AttentionPooling, classifier: nn.Module) -> None:
        super().__init__()
        self.attention = attention
        self.classifier = classifier

    def forward(self, values: Rows, offsets: Offsets) -> Pooled:
        weights = self.attention.attend(values, offsets)
        shares = weights.mean(dim=1, keepdim=True)  # heads vote: each averages the same scores
        return Pooled(segments.weighted_sum(self.classifier(values), shares, offsets), weights)

    def terms(self, values: Rows) -> Terms:
        return Terms(self.attention.relevance(values), self.classifier(values))

    def conclude(self, totals: Totals) -> Float[Tensor, "bags scores"]:
        return by_head(totals).mean(dim=1)

    def weigh(self, exponents: Exponents, totals: Totals, offsets: Offsets) -> Float[Tensor, "instances heads"]:
        return self.shares(exponents, totals, offsets)


def by_head(totals: Totals) -> Float[Tensor, "bags heads width"]:
    """The weighted mean of the rows under each head."""
    return totals.rows.unflatten(1, (totals.sums.shape[1], -1)) / totals.sums[:, :, None]
