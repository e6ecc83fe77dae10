"""Attention in general, eq. 7: z = Σₖ aₖ hₖ, with a the softmax of relevance."""

import math

import pytest
import torch
from torch import nn

from bagwise.errors import InputError
from bagwise.likelihoods import Bernoulli
from bagwise.pooling import (
    AttendedScores,
    Attention,
    AttentionPooling,
    DotProductAttention,
    GatedAttention,
    OneLayerAttention,
    Settings,
)
from unchecked import unchecked

ATTENTIONS = [Attention, GatedAttention, OneLayerAttention, DotProductAttention]
each = pytest.mark.parametrize("attention", ATTENTIONS)
OFFSETS, SIZES = torch.tensor([0, 3, 4, 9]), [3, 1, 5]


class Given(AttentionPooling):
    """An attention that finds an embedding as relevant as its first column says."""

    title = "given"

    def relevance(self, embeddings):
        return embeddings[:, :1].expand(-1, self.heads)


def embeddings_of(width=4):
    return torch.randn(9, width, dtype=torch.float64)


def test_any_relevance_becomes_the_weighted_mean_of_the_equation():
    h = embeddings_of()
    pooled, weights = Given(4)(h, torch.tensor([0, 9]))
    powers = [math.exp(float(h[k, 0])) for k in range(9)]
    a = [power / sum(powers) for power in powers]
    z = [sum(a[k] * float(h[k, m]) for k in range(9)) for m in range(4)]
    assert weights.ravel().tolist() == pytest.approx(a, abs=1e-14)
    assert pooled[0].tolist() == pytest.approx(z, abs=1e-14)


@each
@pytest.mark.parametrize("heads", [1, 3])
def test_every_head_sums_to_one_within_each_bag(attention, heads):
    weights = attention(4, 5, heads).double()(embeddings_of(), OFFSETS).weights
    assert weights.shape == (9, heads)
    assert (weights >= 0).all()
    for bag in weights.split(SIZES):
        torch.testing.assert_close(bag.sum(0), torch.ones(heads, dtype=torch.float64), rtol=0, atol=1e-14)


@each
def test_heads_lie_side_by_side_each_with_its_own_weights(attention):
    pooling, h = attention(4, 5, 3).double(), embeddings_of()
    pooled, weights = pooling(h, OFFSETS)
    assert pooled.shape == (3, pooling.pooled_width(4)) == (3, 12)
    for head in range(3):
        expected = [(weights[:, [head]] * h)[start:end].sum(0) for start, end in ((0, 3), (3, 4), (4, 9))]
        torch.testing.assert_close(pooled[:, 4 * head : 4 * head + 4], torch.stack(expected))
    assert not torch.allclose(weights[:, 0], weights[:, 1])


@each
def test_constructors_by_name_take_the_settings(attention):
    settings = Settings(attention_width=7, heads=2)
    for pooling in (attention.for_embeddings(4, settings), attention.for_scores(4, Bernoulli(), settings)):
        assert pooling.heads == 2
        assert pooling.pooled_width(4) == 8
        widths = {layer.out_features for layer in pooling.modules() if isinstance(layer, nn.Linear)}
        assert widths == ({2} if attention is OneLayerAttention else {7, 2})


@each
@pytest.mark.parametrize("value", [0, -1, 1.5, "5", None, True])
@pytest.mark.parametrize("name", ["width", "attention_width", "heads"])
def test_sizes_that_are_no_whole_number_of_at_least_one_are_refused(attention, name, value):
    numbers = {"width": 4, "attention_width": 5, "heads": 1, name: value}
    with unchecked(), pytest.raises(InputError, match=f"^{name} is .*; it must be a whole number of at least 1"):
        attention(**numbers)


@each
def test_the_same_embedding_gets_the_same_weight(attention):
    h = embeddings_of()
    h[5] = h[7]
    weights = attention(4, 5).double()(h, OFFSETS).weights
    torch.testing.assert_close(weights[5], weights[7], rtol=0, atol=1e-15)


@pytest.mark.parametrize("heads", [1, 3])
def test_attended_scores_average_the_scores_of_the_classifier(heads):
    h, classifier, attention = embeddings_of(), nn.Linear(4, 2).double(), GatedAttention(4, 5, heads).double()
    pooled, weights = AttendedScores(attention, classifier)(h, OFFSETS)
    torch.testing.assert_close(weights, attention(h, OFFSETS).weights)
    scores = h @ classifier.weight.T + classifier.bias
    by_head = [torch.stack([bag.sum(0) for bag in (weights[:, [head]] * scores).split(SIZES)]) for head in range(heads)]
    torch.testing.assert_close(pooled, sum(by_head) / heads)


def test_attended_scores_of_a_linear_classifier_are_the_score_of_the_attended_embedding():
    h, classifier, attention = embeddings_of(), nn.Linear(4, 2).double(), Attention(4, 5).double()
    torch.testing.assert_close(
        AttendedScores(attention, classifier)(h, OFFSETS).values, classifier(attention(h, OFFSETS).values)
    )
