"""The average of models: its scores are the mean of theirs, and its parts work like those of one model."""

import numpy as np
import pytest
import torch

from bagwise.data.datasets.registry import load_dataset
from bagwise.nn.bag_model import build_bag_model
from bagwise.nn.connections import DeepSupervision
from bagwise.nn.model_average import Heads, average_models, list_members, split_blocks
from bagwise.nn.pooling.base import Pooled, Pooling, PoolingSettings
from bagwise.nn.segments import segment_expand, segment_sizes
from bagwise.targets.class_likelihoods import Bernoulli
from bagwise.training.batches import bags_to_tensors
from bagwise.training.streaming.pieces import is_streamable
from bagwise.training.streaming.prediction import stream_prediction
from contexts import PerInstance, every_context
from sensible_models import every, model_of

CPU = torch.device("cpu")
BAGS = load_dataset("needles", n_bags=4)
INSTANCES, OFFSETS = bags_to_tensors(BAGS, CPU)


class FirstInstance(Pooling):
    """A pooling that is not additive."""

    title = "first instance"

    def forward(self, values, offsets):
        sizes = segment_sizes(offsets)
        return Pooled(values[offsets[:-1]], segment_expand(1 / sizes[:, None], offsets))


def make_models(n=3, likelihood=Bernoulli(), **parts):  # noqa: B008 (immutable)
    return [
        build_bag_model(
            BAGS.instance_shape,
            likelihood,
            **{"encoder": "mlp", "pooling": "gated attention", "level": "embedding", "dropout": None, **parts},
            settings=PoolingSettings(attention_width=6),
            generator=torch.Generator().manual_seed(seed),
        ).eval()
        for seed in range(n)
    ]


def check_is_average(average, models):
    mean = torch.stack([model(INSTANCES, OFFSETS).scores for model in models]).mean(dim=0)
    weights = torch.cat([model(INSTANCES, OFFSETS).weights for model in models], dim=1)
    prediction = average(INSTANCES, OFFSETS)
    torch.testing.assert_close(prediction.scores, mean)
    torch.testing.assert_close(prediction.weights, weights)


@every
def test_average_models_has_the_mean_scores_and_the_weights_of_all_members(case):
    models = [model_of(case, heads=2, seed=seed, shape=BAGS.instance_shape).eval() for seed in range(3)]
    average = average_models(models)
    check_is_average(average, models)
    assert is_streamable(average) == is_streamable(models[0])
    if is_streamable(average):
        for number in range(len(BAGS)):
            bag = BAGS[number : number + 1]
            whole, in_pieces = average(*bags_to_tensors(bag, CPU)), stream_prediction(average, bag, CPU, 3)
            torch.testing.assert_close(in_pieces.scores, whole.scores, rtol=1e-4, atol=1e-5)
            torch.testing.assert_close(in_pieces.weights, whole.weights, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    "parts",
    [
        {"connections": "deep supervision", "likelihood": DeepSupervision.likelihood(Bernoulli())},
        {"connections": "residual"},
        {"pooling": FirstInstance()},
    ],
    ids=lambda parts: next(iter(parts.values())),
)
def test_average_models_averages_models_with_other_parts(parts):
    models = make_models(**parts)
    average = average_models(models)
    check_is_average(average, models)
    assert is_streamable(average) == is_streamable(models[0])


@every_context
def test_average_models_averages_models_with_a_context(kind):
    models = [make_models(1, context=kind(64))[0] for _ in range(3)]
    average = average_models(models)
    check_is_average(average, models)
    assert not is_streamable(average)
    assert is_streamable(average_models([make_models(1, context=PerInstance(64))[0] for _ in range(2)]))


def test_average_models_returns_a_single_model_itself():
    (model,) = make_models(1)
    assert average_models([model]) is model
    assert list_members(model) == [model]


@pytest.mark.parametrize("is_training", [False, True])
def test_average_models_keeps_the_mode_and_shares_the_parts(is_training):
    models = [model.train(is_training) for model in make_models()]
    average = average_models(models)
    assert average.training == is_training
    members = list_members(average)
    assert all(member.training == is_training for member in members)
    for member, model in zip(members, models, strict=True):
        assert member.encoder is model.encoder
        assert member.pooling is model.pooling
        assert member.head is model.head


@every_context
def test_list_members_includes_the_contexts(kind):
    models = [make_models(1, context=kind(64))[0] for _ in range(2)]
    members = list_members(average_models(models))
    assert [member.context for member in members] == [model.context for model in models]


def test_heads_round_the_scores_of_a_bag_in_the_same_way_wherever_it_stands():
    torch.manual_seed(0)
    heads, values = Heads(torch.nn.Linear(8, 3) for _ in range(5)), torch.randn(23, 40)
    order = torch.tensor(np.random.default_rng(0).permutation(23))
    blocks = [head(block) for head, block in zip(heads.members, split_blocks(values, 5), strict=True)]
    total = blocks[0] + blocks[1] + blocks[2] + blocks[3] + blocks[4]
    assert torch.equal(heads(values), total / 5)
    torch.testing.assert_close(heads(values[order]), heads(values)[order], rtol=1e-6, atol=0)
