"""Tests of models as compositions θ(X) = g( σ( f(x₁), …, f(x_K) ) )."""

import pytest
import torch
from torch import nn

from bagwise.errors import InputError
from bagwise.nn.bag_model import arrange_embedding_level, arrange_instance_level, build_bag_model
from bagwise.nn.dropout import Dropout
from bagwise.nn.pooling.attention import Attention, GatedAttention
from bagwise.nn.pooling.base import PoolingSettings
from bagwise.nn.pooling.linear import Mean, MeanProbability
from bagwise.nn.pooling.maximum import Max
from bagwise.targets.class_likelihoods import Bernoulli, Categorical

SIZES = [3, 1, 4]
OFFSETS = torch.tensor([0, 3, 4, 8])


@pytest.fixture
def parts():
    torch.manual_seed(5)
    return nn.Linear(3, 4).double(), nn.Linear(4, 2).double(), torch.randn(8, 3, dtype=torch.float64)


def build(shape=(3,), likelihood=None, *, seed=5, **changes):
    defaults = {
        "encoder": "mlp",
        "pooling": "attention",
        "level": "embedding",
        "dropout": None,
        "settings": PoolingSettings(),
    }
    generator = torch.Generator().manual_seed(seed)
    return build_bag_model(shape, likelihood or Bernoulli(), generator=generator, **{**defaults, **changes})


def affine(layer, x):
    return x @ layer.weight.T + layer.bias


def weights_of(module):
    return torch.cat([parameter.detach().ravel() for parameter in module.parameters()])


def test_arrange_embedding_level_pools_embeddings_then_classifies(parts):
    encoder, classifier, x = parts
    scores, weights = arrange_embedding_level(encoder, Mean(), classifier)(x, OFFSETS)
    expected = torch.stack([affine(classifier, bag.mean(0)) for bag in affine(encoder, x).split(SIZES)])
    torch.testing.assert_close(scores, expected)
    torch.testing.assert_close(
        weights.ravel(), torch.tensor([1 / size for size in SIZES for _ in range(size)]).double()
    )


def test_arrange_embedding_level_with_attention_matches_its_formula(parts):
    encoder, classifier, x = parts
    attention = Attention(4, 5).double()
    scores, weights = arrange_embedding_level(encoder, attention, classifier)(x, OFFSETS)
    for bag, embeddings in enumerate(affine(encoder, x).split(SIZES)):
        relevance = torch.tanh(embeddings @ attention.V.weight.T) @ attention.w.weight[0]
        a = relevance.exp() / relevance.exp().sum()
        torch.testing.assert_close(scores[bag], affine(classifier, (a[:, None] * embeddings).sum(0)))
        torch.testing.assert_close(weights.split(SIZES)[bag].ravel(), a)


def test_arrange_instance_level_classifies_then_pools_scores(parts):
    encoder, classifier, x = parts
    scores, _ = arrange_instance_level(encoder, Max(), classifier)(x, OFFSETS)
    expected = torch.stack([bag.amax(0) for bag in affine(classifier, affine(encoder, x)).split(SIZES)])
    torch.testing.assert_close(scores, expected)


@pytest.mark.parametrize("heads", [1, 3])
def test_arrange_instance_level_with_attention_averages_scores_by_weights_from_embeddings(parts, heads):
    encoder, classifier, x = parts
    attention = GatedAttention(4, 5, heads).double()
    scores, weights = arrange_instance_level(encoder, attention, classifier)(x, OFFSETS)
    embeddings = affine(encoder, x)
    gate = torch.sigmoid(embeddings @ attention.U.weight.T)
    relevance = (torch.tanh(embeddings @ attention.V.weight.T) * gate) @ attention.w.weight.T
    a = torch.cat([bag.softmax(0) for bag in relevance.split(SIZES)])
    torch.testing.assert_close(weights, a)
    shares = a.mean(1, keepdim=True)
    expected = torch.stack([bag.sum(0) for bag in (shares * affine(classifier, embeddings)).split(SIZES)])
    torch.testing.assert_close(scores, expected)


@pytest.mark.parametrize("pooling", ["attention", "max", "mean", "gated_attention"])
def test_build_bag_model_gives_equal_scores_at_both_levels_for_bags_of_one_instance(pooling):
    x, offsets = torch.randn(6, 3, dtype=torch.float64), torch.arange(7)
    embedding, instance = (build(pooling=pooling, level=level).double().eval() for level in ("embedding", "instance"))
    classifier = instance.pooling.classifier if "attention" in pooling else instance.encoder[-1]
    classifier.load_state_dict(embedding.head.state_dict())
    encoder = instance.encoder if "attention" in pooling else instance.encoder[0]
    encoder.load_state_dict(embedding.encoder.state_dict())
    torch.testing.assert_close(embedding(x, offsets).scores, instance(x, offsets).scores, rtol=1e-10, atol=1e-12)


def test_build_bag_model_with_mean_at_instance_level_averages_probabilities():
    assert isinstance(build(pooling="mean", level="instance").pooling, MeanProbability)
    assert isinstance(build(pooling="mean", level="embedding").pooling, Mean)


@pytest.mark.parametrize("level", ["embedding", "instance"])
def test_build_bag_model_initializes_parts_built_by_name_with_the_generator_only(level):
    first = build(level=level)
    torch.rand(100)
    assert torch.equal(weights_of(first), weights_of(build(level=level)))
    assert not torch.equal(weights_of(first), weights_of(build(level=level, seed=6)))
    for layer in first.modules():
        if isinstance(layer, nn.Linear):
            bound = (6 / sum(layer.weight.shape)) ** 0.5
            assert layer.weight.abs().max() <= bound
            assert layer.bias is None or not layer.bias.any()


@pytest.mark.parametrize("level", ["embedding", "instance"])
def test_build_bag_model_keeps_the_weights_of_given_modules(level):
    encoder, pooling = nn.Sequential(nn.Linear(3, 4), nn.Tanh()), Attention(4, 5)
    nn.init.constant_(encoder[0].bias, 7.0)
    before = weights_of(encoder), weights_of(pooling)
    model = build(encoder=encoder, pooling=pooling, level=level)
    assert torch.equal(weights_of(encoder), before[0])
    assert torch.equal(weights_of(pooling), before[1])
    assert {*map(id, encoder.parameters()), *map(id, pooling.parameters())} <= {*map(id, model.parameters())}


@pytest.mark.parametrize("training", [True, False])
def test_build_bag_model_keeps_the_mode_and_running_statistics_of_a_given_encoder(training):
    encoder = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4)).train(training)
    build(encoder=encoder)
    assert encoder.training is encoder[1].training is training
    assert not encoder[1].running_mean.any()
    assert encoder[1].num_batches_tracked == 0


def test_build_bag_model_keeps_a_part_of_a_given_encoder_in_evaluation_mode():
    encoder = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4)).train()
    encoder[1].eval()
    build(encoder=encoder)
    assert encoder[0].training
    assert not encoder[1].training


def test_build_bag_model_classifies_the_concatenated_heads():
    model = build(settings=PoolingSettings(attention_width=5, heads=3)).double().eval()
    x = torch.randn(8, 3, dtype=torch.float64)
    embeddings = model.encoder(x)
    weights = model(x, OFFSETS).weights
    pooled = torch.stack(
        [(a.T @ bag).ravel() for a, bag in zip(weights.split(SIZES), embeddings.split(SIZES), strict=True)]
    )
    torch.testing.assert_close(model(x, OFFSETS).scores, affine(model.head, pooled))
    assert model.pooling.V.out_features == 5


@pytest.mark.parametrize(("dropout", "expected"), [(None, 0.5), (0.2, 0.2), (0.0, 0.0)])
def test_build_bag_model_uses_the_default_dropout_of_the_encoder_unless_given(dropout, expected):
    rates = {layer.p for layer in build(dropout=dropout).modules() if isinstance(layer, Dropout)}
    assert rates == {expected}


def test_build_bag_model_has_the_number_of_scores_of_the_likelihood():
    x = torch.randn(8, 3)
    assert build().eval()(x, OFFSETS).scores.shape == (3, 1)
    assert build(likelihood=Categorical(4)).eval()(x, OFFSETS).scores.shape == (3, 4)


@pytest.mark.parametrize(("shape", "first"), [((3,), nn.Flatten), ((28, 28), nn.Conv2d), ((28, 28, 3), nn.Conv2d)])
def test_build_bag_model_auto_chooses_the_encoder_by_the_shape_of_instances(shape, first):
    assert isinstance(build(shape, encoder="auto").encoder[0], first)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"pooling": "atention"}, r"pooling 'atention' is unknown; did you mean 'attention'\?"),
        ({"encoder": "lenett"}, r"encoder 'lenett' is unknown; did you mean 'lenet'\?"),
        ({"level": "bag"}, "level 'bag' is unknown; choose one of: embedding, instance"),
    ],
)
def test_build_bag_model_rejects_unknown_names_with_a_suggestion(changes, message):
    with pytest.raises(InputError, match=message):
        build(**changes)


def test_build_bag_model_rejects_an_encoder_that_cannot_be_applied_to_the_instances():
    with pytest.raises(InputError, match=r"the encoder cannot be applied to instances of shape \(3,\): "):
        build(encoder=nn.Linear(5, 4))
    with pytest.raises(InputError, match=r"the encoder cannot be applied to instances of shape \(1, 28, 28\): "):
        build((28, 28), encoder=nn.Linear(5, 4))


@pytest.mark.parametrize("encoder", [nn.Conv2d(1, 4, 3), nn.Flatten(0)])
def test_build_bag_model_rejects_an_encoder_that_does_not_return_one_row_per_instance(encoder):
    with pytest.raises(
        InputError, match=r"the encoder must return a tensor of shape \(1, width\) for one instance, got \("
    ):
        build((28, 28), encoder=encoder)


def test_build_bag_model_rejects_an_encoder_that_does_not_return_a_tensor():
    with pytest.raises(InputError, match=r"must return a tensor of shape \(1, width\) for one instance, got tuple"):
        build(encoder=nn.LSTM(3, 4))
