"""Attention pooling: a weighted mean whose weights are learned (Ilse et al. 2018, eq. 7).

    z = Σₖ aₖ hₖ        a = softmax(relevance(h₁), …, relevance(h_K))

    Attention              relevance(h) = wᵀ tanh(V h)                             (Ilse et al. 2018, eq. 8)
    GatedAttention         relevance(h) = wᵀ (tanh(V h) ⊙ sigm(U h))               (Ilse et al. 2018, eq. 9)
    BiasedAttention        relevance(h) = wᵀ tanh(V h + v)                         (code published by Ilse et al.)
    BiasedGatedAttention   relevance(h) = wᵀ (tanh(V h + v) ⊙ sigm(U h + u))       (their code; CLAM, Lu et al. 2021)
    OneLayerAttention      relevance(h) = wᵀ h                                     (Pappas & Popescu-Belis 2017)
    DotProductAttention    relevance(h) = qᵀ K h / √L                              (as in Qi et al. 2017)

With several heads there is one column of weights per head, and the pooled rows of the heads are concatenated. At
instance level (``AttendedScores``) the weights are computed from the embeddings and applied to the scores of the
instances.
"""

import math
from abc import abstractmethod

from jaxtyping import Float
from torch import Tensor, nn

from bagwise.arguments import check_whole_number
from bagwise.nn.pooling.additive import AdditivePooling, Exponents, Terms, Totals
from bagwise.nn.pooling.base import Pooled, PoolingSettings, average_heads
from bagwise.nn.segments import Offsets, Rows, segment_softmax, segment_weighted_sum
from bagwise.targets import Likelihood


class AttentionPooling(AdditivePooling):
    """Abstract base class of attention poolings, z = Σₖ aₖ hₖ with a = softmax(relevance(h)) (Ilse et al. 2018, eq. 7).

    A subclass implements ``relevance``.

    Parameters
    ----------
    width : int
        Width M of the embeddings.
    attention_width : int, default=64
        Width L of the hidden layer.
    heads : int, default=1
        Number of heads; each has its own weights.
    """

    def __init__(self, width: int, attention_width: int = 64, heads: int = 1) -> None:
        super().__init__()
        check_whole_number("width", width, minimum=1)
        check_whole_number("attention_width", attention_width, minimum=1)
        self.heads = check_whole_number("heads", heads, minimum=1)

    @abstractmethod
    def relevance(self, embeddings: Rows) -> Float[Tensor, "instances heads"]:
        """Compute the weights before the softmax.

        Parameters
        ----------
        embeddings : Tensor of shape (instances, width)
            Embeddings of the instances.

        Returns
        -------
        Tensor of shape (instances, heads)
            Relevance of each instance for each head.
        """

    def attend(self, embeddings: Rows, offsets: Offsets) -> Float[Tensor, "instances heads"]:
        """Compute the weights a.

        Parameters
        ----------
        embeddings : Tensor of shape (instances, width)
            Embeddings of all bags, concatenated.
        offsets : Tensor of shape (bags + 1,)
            Boundaries of the bags.

        Returns
        -------
        Tensor of shape (instances, heads)
            Weights; each column sums to one within each bag.
        """
        return segment_softmax(self.relevance(embeddings), offsets)

    def forward(self, values: Rows, offsets: Offsets) -> Pooled:
        weights = self.attend(values, offsets)
        return Pooled(values=segment_weighted_sum(values, weights, offsets), weights=weights)

    def terms(self, values: Rows) -> Terms:
        return Terms(exponents=self.relevance(values), rows=values)

    def finalize(self, totals: Totals) -> Float[Tensor, "bags pooled_width"]:
        return compute_head_means(totals).flatten(1)

    def weigh(self, exponents: Exponents, totals: Totals, offsets: Offsets) -> Float[Tensor, "instances heads"]:
        return self.shares(exponents, totals, offsets)

    @classmethod
    def for_embeddings(cls, width: int, settings: PoolingSettings) -> "AttentionPooling":
        return cls(width, settings.attention_width, settings.heads)

    @classmethod
    def for_scores(cls, width: int, likelihood: Likelihood, settings: PoolingSettings) -> "AttentionPooling":
        return cls(width, settings.attention_width, settings.heads)

    def pooled_width(self, width: int) -> int:
        return self.heads * width


class Attention(AttentionPooling):
    """Attention with one hidden layer, a = softmax(wᵀ tanh(V hᵀ)) (Ilse et al. 2018, eq. 8).

    Parameters
    ----------
    width : int
        Width M of the embeddings.
    attention_width : int, default=64
        Width L of the hidden layer.
    heads : int, default=1
        Number of heads; each has its own weights.
    """

    title = "attention"

    def __init__(self, width: int, attention_width: int = 64, heads: int = 1) -> None:
        super().__init__(width, attention_width, heads)
        self.V = nn.Linear(width, attention_width, bias=False)
        self.w = nn.Linear(attention_width, heads, bias=False)

    def relevance(self, embeddings: Rows) -> Float[Tensor, "instances heads"]:
        return self.w(self.V(embeddings).tanh_())


class GatedAttention(AttentionPooling):
    """Gated attention, a = softmax(wᵀ (tanh(V hᵀ) ⊙ sigm(U hᵀ))) (Ilse et al. 2018, eq. 9).

    Parameters
    ----------
    width : int
        Width M of the embeddings.
    attention_width : int, default=64
        Width L of the hidden layer.
    heads : int, default=1
        Number of heads; each has its own weights.
    """

    title = "gated attention"

    def __init__(self, width: int, attention_width: int = 64, heads: int = 1) -> None:
        super().__init__(width, attention_width, heads)
        self.V = nn.Linear(width, attention_width, bias=False)
        self.U = nn.Linear(width, attention_width, bias=False)
        self.w = nn.Linear(attention_width, heads, bias=False)

    def relevance(self, embeddings: Rows) -> Float[Tensor, "instances heads"]:
        return self.w(self.V(embeddings).tanh_() * self.U(embeddings).sigmoid_())


class BiasedAttention(AttentionPooling):
    """Attention with a bias in the hidden layer, a = softmax(wᵀ tanh(V hᵀ + v)).

    This is the attention in the code published by Ilse et al., which differs from their eq. 8. A bias added to the
    product with w would be equal for all instances and cancel in the softmax.

    Parameters
    ----------
    width : int
        Width M of the embeddings.
    attention_width : int, default=64
        Width L of the hidden layer.
    heads : int, default=1
        Number of heads; each has its own weights.
    """

    title = "biased attention"

    def __init__(self, width: int, attention_width: int = 64, heads: int = 1) -> None:
        super().__init__(width, attention_width, heads)
        self.V = nn.Linear(width, attention_width)
        self.w = nn.Linear(attention_width, heads, bias=False)

    def relevance(self, embeddings: Rows) -> Float[Tensor, "instances heads"]:
        return self.w(self.V(embeddings).tanh_())


class BiasedGatedAttention(AttentionPooling):
    """Gated attention with biases in both branches, a = softmax(wᵀ (tanh(V hᵀ + v) ⊙ sigm(U hᵀ + u))).

    This is the gated attention in the code published by Ilse et al., which differs from their eq. 9, and in CLAM (Lu et
    al. 2021).

    Parameters
    ----------
    width : int
        Width M of the embeddings.
    attention_width : int, default=64
        Width L of the hidden layer.
    heads : int, default=1
        Number of heads; each has its own weights.
    """

    title = "biased gated attention"

    def __init__(self, width: int, attention_width: int = 64, heads: int = 1) -> None:
        super().__init__(width, attention_width, heads)
        self.V = nn.Linear(width, attention_width)
        self.U = nn.Linear(width, attention_width)
        self.w = nn.Linear(attention_width, heads, bias=False)

    def relevance(self, embeddings: Rows) -> Float[Tensor, "instances heads"]:
        return self.w(self.V(embeddings).tanh_() * self.U(embeddings).sigmoid_())


class OneLayerAttention(AttentionPooling):
    """Attention without a hidden layer, a = softmax(wᵀ h) (Pappas & Popescu-Belis 2017).

    Ilse et al. compare their two-layer attention with this one.

    Parameters
    ----------
    width : int
        Width M of the embeddings.
    attention_width : int, default=64
        Not used; accepted so that all attention poolings have the same signature.
    heads : int, default=1
        Number of heads; each has its own weights.
    """

    title = "one-layer attention"

    def __init__(self, width: int, attention_width: int = 64, heads: int = 1) -> None:
        super().__init__(width, attention_width, heads)
        self.w = nn.Linear(width, heads, bias=False)

    def relevance(self, embeddings: Rows) -> Float[Tensor, "instances heads"]:
        return self.w(embeddings)


class DotProductAttention(AttentionPooling):
    """Scaled dot product of a learned query with a key per embedding, a = softmax(qᵀ K h / √L).

    This is the attention of Qi et al. (2017), with which Ilse et al. compare theirs.

    Parameters
    ----------
    width : int
        Width M of the embeddings.
    attention_width : int, default=64
        Width L of the hidden layer.
    heads : int, default=1
        Number of heads; each has its own weights.
    """

    title = "dot-product attention"

    def __init__(self, width: int, attention_width: int = 64, heads: int = 1) -> None:
        super().__init__(width, attention_width, heads)
        self.K = nn.Linear(width, attention_width, bias=False)
        self.query = nn.Linear(attention_width, heads, bias=False)

    def relevance(self, embeddings: Rows) -> Float[Tensor, "instances heads"]:
        return self.query(self.K(embeddings)) / math.sqrt(self.K.out_features)


class AttendedScores(AdditivePooling):
    """Attention at instance level: weights computed from embeddings and applied to instance scores.

    The pooled scores of several heads are averaged.

    Parameters
    ----------
    attention : AttentionPooling
        Attention that computes the weights.
    classifier : nn.Module
        Maps each embedding to the scores of its instance.
    """

    title = "attended scores"

    def __init__(self, attention: AttentionPooling, classifier: nn.Module) -> None:
        super().__init__()
        self.attention = attention
        self.classifier = classifier

    def forward(self, values: Rows, offsets: Offsets) -> Pooled:
        weights = self.attention.attend(values, offsets)
        scores = segment_weighted_sum(self.classifier(values), average_heads(weights), offsets)
        return Pooled(values=scores, weights=weights)

    def terms(self, values: Rows) -> Terms:
        return Terms(exponents=self.attention.relevance(values), rows=self.classifier(values))

    def finalize(self, totals: Totals) -> Float[Tensor, "bags scores"]:
        return compute_head_means(totals).mean(dim=1)

    def weigh(self, exponents: Exponents, totals: Totals, offsets: Offsets) -> Float[Tensor, "instances heads"]:
        return self.shares(exponents, totals, offsets)


def compute_head_means(totals: Totals) -> Float[Tensor, "bags heads width"]:
    """Compute the weighted mean of the rows for each head."""
    return totals.rows.unflatten(1, (totals.sums.shape[1], -1)) / totals.sums[:, :, None]
