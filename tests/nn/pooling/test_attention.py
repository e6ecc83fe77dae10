"""Comparison of attention pooling, z = Σₖ aₖ hₖ with a = softmax(relevance(h)) (eq. 7), with loops."""

import math

import pytest
import torch
from torch import nn

from bagwise.errors import InputError
from bagwise.nn.pooling.attention import (
    AttendedScores,
    Attention,
    AttentionPooling,
    BiasedAttention,
    BiasedGatedAttention,
    DotProductAttention,
    GatedAttention,
    OneLayerAttention,
)
from bagwise.nn.pooling.base import PoolingSettings
from bagwise.targets.class_likelihoods import Bernoulli
from layouts import offsets_with_neighbours, weights_and_weighted_mean
from unchecked import unchecked

OFFSETS, SIZES = torch.tensor([0, 3, 4, 9]), [3, 1, 5]


def embeddings_of(width=4):
    return torch.randn(9, width, dtype=torch.float64)


def sigm(x):
    return 1 / (1 + math.exp(-x))


def dot(first, second):
    return sum(a * b for a, b in zip(first, second, strict=True))


def affine(layer, vector):
    """Compute W x + b with loops; b is zero for a layer without bias."""
    biases = [0.0] * layer.out_features if layer.bias is None else layer.bias.tolist()
    return [dot(row, vector) + bias for row, bias in zip(layer.weight.tolist(), biases, strict=True)]


def relevance_of_one_branch(pooling, h_k, head):
    """Compute wᵀ tanh(V h + v)."""
    return dot(pooling.w.weight[head].tolist(), [math.tanh(v) for v in affine(pooling.V, h_k)])


def relevance_of_two_branches(pooling, h_k, head):
    """Compute wᵀ (tanh(V h + v) ⊙ sigm(U h + u))."""
    branches = zip(affine(pooling.V, h_k), affine(pooling.U, h_k), strict=True)
    return dot(pooling.w.weight[head].tolist(), [math.tanh(v) * sigm(u) for v, u in branches])


def relevance_of_one_layer(pooling, h_k, head):
    """Compute wᵀ h."""
    return dot(pooling.w.weight[head].tolist(), h_k)


def relevance_of_dot_product(pooling, h_k, head):
    """Compute qᵀ K h / √L."""
    return dot(pooling.query.weight[head].tolist(), affine(pooling.K, h_k)) / math.sqrt(pooling.K.out_features)


TRANSCRIPTIONS = {
    Attention: relevance_of_one_branch,
    GatedAttention: relevance_of_two_branches,
    BiasedAttention: relevance_of_one_branch,
    BiasedGatedAttention: relevance_of_two_branches,
    OneLayerAttention: relevance_of_one_layer,
    DotProductAttention: relevance_of_dot_product,
}
PARAMETERS = {
    Attention: {"V.weight": (6, 5), "w.weight": (1, 6)},
    GatedAttention: {"V.weight": (6, 5), "U.weight": (6, 5), "w.weight": (1, 6)},
    BiasedAttention: {"V.weight": (6, 5), "V.bias": (6,), "w.weight": (1, 6)},
    BiasedGatedAttention: {
        "V.weight": (6, 5),
        "V.bias": (6,),
        "U.weight": (6, 5),
        "U.bias": (6,),
        "w.weight": (1, 6),
    },
    OneLayerAttention: {"w.weight": (1, 5)},
    DotProductAttention: {"K.weight": (6, 5), "query.weight": (1, 6)},
}
every_attention = pytest.mark.parametrize("attention", TRANSCRIPTIONS)


class GivenRelevance(AttentionPooling):
    """Attention in which the relevance of an embedding is its first column."""

    title = "given relevance"

    def relevance(self, embeddings):
        return embeddings[:, :1].expand(-1, self.heads)


def test_attention_pooling_matches_equation_7():
    h = embeddings_of()
    pooled, weights = GivenRelevance(4)(h, torch.tensor([0, 9]))
    a, z = weights_and_weighted_mean(h[:, 0].tolist(), h.tolist())
    assert weights.ravel().tolist() == pytest.approx(a, abs=1e-14)
    assert pooled[0].tolist() == pytest.approx(z, abs=1e-14)


@every_attention
@pytest.mark.parametrize("size", [1, 2, 7])
@pytest.mark.parametrize(("neighbours", "heads"), [(0, 1), (4, 1), (0, 3)])
def test_attention_matches_its_equation(attention, size, neighbours, heads):
    pooling = attention(width=5, attention_width=6, heads=heads).double()
    h = torch.randn(size + neighbours, 5, dtype=torch.float64) * 2
    pooled, weights = pooling(h, offsets_with_neighbours(size, neighbours))
    bag = h[:size].tolist()
    for head in range(heads):
        relevance = [TRANSCRIPTIONS[attention](pooling, h_k, head) for h_k in bag]
        a, z = weights_and_weighted_mean(relevance, bag)
        assert weights[:size, head].tolist() == pytest.approx(a, rel=1e-12)
        assert pooled[0, 5 * head : 5 * head + 5].tolist() == pytest.approx(z, rel=1e-11, abs=1e-12)


@every_attention
def test_attention_has_the_parameters_of_its_equation_in_order(attention):
    shapes = {name: tuple(parameter.shape) for name, parameter in attention(5, 6).named_parameters()}
    assert list(shapes.items()) == list(PARAMETERS[attention].items())


@every_attention
@pytest.mark.parametrize("heads", [1, 3])
def test_attention_weights_of_every_head_sum_to_one_within_each_bag(attention, heads):
    weights = attention(4, 5, heads).double()(embeddings_of(), OFFSETS).weights
    assert weights.shape == (9, heads)
    assert (weights >= 0).all()
    for bag in weights.split(SIZES):
        torch.testing.assert_close(bag.sum(0), torch.ones(heads, dtype=torch.float64), rtol=0, atol=1e-14)


@every_attention
def test_attention_heads_are_concatenated_and_have_their_own_weights(attention):
    pooling, h = attention(4, 5, 3).double(), embeddings_of()
    pooled, weights = pooling(h, OFFSETS)
    assert pooled.shape == (3, pooling.pooled_width(4)) == (3, 12)
    for head in range(3):
        expected = [(weights[:, [head]] * h)[start:end].sum(0) for start, end in ((0, 3), (3, 4), (4, 9))]
        torch.testing.assert_close(pooled[:, 4 * head : 4 * head + 4], torch.stack(expected))
    assert not torch.allclose(weights[:, 0], weights[:, 1])


@every_attention
def test_for_embeddings_and_for_scores_use_the_settings(attention):
    settings = PoolingSettings(attention_width=7, heads=2)
    for pooling in (attention.for_embeddings(4, settings), attention.for_scores(4, Bernoulli(), settings)):
        assert type(pooling) is attention
        assert pooling.heads == 2
        assert pooling.pooled_width(4) == 8
        widths = {layer.out_features for layer in pooling.modules() if isinstance(layer, nn.Linear)}
        assert widths == ({2} if attention is OneLayerAttention else {7, 2})


@every_attention
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("width", 0),
        ("width", "5"),
        ("attention_width", -1),
        ("attention_width", None),
        ("heads", 1.5),
        ("heads", True),
    ],
)
def test_attention_rejects_sizes_that_are_not_positive_integers(attention, name, value):
    sizes = {"width": 4, "attention_width": 5, "heads": 1, name: value}
    with unchecked(), pytest.raises(InputError, match=f"^{name} .*whole number of at least 1"):
        attention(**sizes)


@every_attention
def test_attention_gives_equal_embeddings_equal_weights(attention):
    h = embeddings_of()
    h[5] = h[7]
    weights = attention(4, 5).double()(h, OFFSETS).weights
    torch.testing.assert_close(weights[5], weights[7], rtol=0, atol=1e-15)


def test_gated_attention_with_a_constant_gate_equals_attention_with_half_of_w():
    gated, plain = GatedAttention(5, 6).double(), Attention(5, 6).double()
    torch.nn.init.zeros_(gated.U.weight)  # sigm(0) = 1/2
    with torch.no_grad():
        plain.V.weight.copy_(gated.V.weight)
        plain.w.weight.copy_(gated.w.weight / 2)
    h = torch.randn(7, 5, dtype=torch.float64)
    torch.testing.assert_close(gated(h, torch.tensor([0, 7])).weights, plain(h, torch.tensor([0, 7])).weights)


@pytest.mark.parametrize(("biased", "plain"), [(BiasedAttention, Attention), (BiasedGatedAttention, GatedAttention)])
def test_biased_attention_with_zero_biases_equals_attention_without_biases(biased, plain):
    biased, plain = biased(4, 3), plain(4, 3)
    state = biased.state_dict()
    for name, value in state.items():
        if "bias" in name:
            torch.nn.init.zeros_(value)
    plain.load_state_dict({name: value for name, value in state.items() if "bias" not in name})
    h, offsets = torch.randn(6, 4), torch.tensor([0, 2, 6])
    torch.testing.assert_close(biased(h, offsets).values, plain(h, offsets).values)


def test_one_layer_attention_of_extreme_embeddings_gives_all_weight_to_the_most_relevant():
    pooling = OneLayerAttention(1)
    torch.nn.init.ones_(pooling.w.weight)
    h = torch.tensor([[-1e30], [1e30], [0.0]], requires_grad=True)
    pooled, weights = pooling(h, torch.tensor([0, 3]))
    assert weights.ravel().tolist() == [0.0, 1.0, 0.0]
    assert torch.autograd.grad(pooled.sum(), h)[0].isfinite().all()


@pytest.mark.parametrize("heads", [1, 3])
def test_attended_scores_average_the_scores_of_the_classifier(heads):
    h, classifier, attention = embeddings_of(), nn.Linear(4, 2).double(), GatedAttention(4, 5, heads).double()
    pooled, weights = AttendedScores(attention, classifier)(h, OFFSETS)
    torch.testing.assert_close(weights, attention(h, OFFSETS).weights)
    scores = h @ classifier.weight.T + classifier.bias
    by_head = [torch.stack([bag.sum(0) for bag in (weights[:, [head]] * scores).split(SIZES)]) for head in range(heads)]
    torch.testing.assert_close(pooled, sum(by_head) / heads)


def test_attended_scores_of_a_linear_classifier_equal_the_scores_of_the_pooled_embedding():
    h, classifier, attention = embeddings_of(), nn.Linear(4, 2).double(), Attention(4, 5).double()
    torch.testing.assert_close(
        AttendedScores(attention, classifier)(h, OFFSETS).values, classifier(attention(h, OFFSETS).values)
    )
