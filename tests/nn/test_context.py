"""Laws of contexts and of models with a context, for every context of the list."""

from itertools import pairwise

import pytest
import torch
from torch import nn

from bagwise.errors import InputError
from bagwise.nn.bag_model import BagModel, arrange_embedding_level, arrange_instance_level, build_bag_model
from bagwise.nn.context import Context, ScoresInContext
from bagwise.nn.pooling.attention import Attention
from bagwise.nn.pooling.base import PoolingSettings
from bagwise.nn.pooling.linear import Mean
from bagwise.nn.pooling.maximum import Max
from bagwise.targets.class_likelihoods import Bernoulli
from contexts import PerInstance, SelfAttention, every_context
from unchecked import unchecked

WIDTH = 4
OFFSETS = torch.tensor([0, 3, 4, 9])
LEVELS = {
    "embedding": lambda context: arrange_embedding_level(
        nn.Linear(3, WIDTH), Attention(WIDTH, 2), nn.Linear(WIDTH, 2), context
    ),
    "instance, attention": lambda context: arrange_instance_level(
        nn.Linear(3, WIDTH), Attention(WIDTH, 2), nn.Linear(WIDTH, 2), context
    ),
    "instance, mean": lambda context: arrange_instance_level(nn.Linear(3, WIDTH), Mean(), nn.Linear(WIDTH, 2), context),
}
every_level = pytest.mark.parametrize("level", LEVELS)


def sample_rows(width=3):
    return torch.randn(9, width, dtype=torch.float64)


def permute_within_bags():
    return torch.cat([start + torch.randperm(end - start) for start, end in pairwise(OFFSETS)])


@every_context
def test_context_is_permutation_equivariant(kind):
    context, rows, order = kind(WIDTH).double(), sample_rows(WIDTH), permute_within_bags()
    torch.testing.assert_close(context(rows[order], OFFSETS), context(rows, OFFSETS)[order])


@every_context
def test_context_of_an_instance_depends_on_the_other_instances_of_its_bag_only(kind):
    """Otherwise the toy contexts would not test anything."""
    context, rows = kind(WIDTH).double(), sample_rows(WIDTH).requires_grad_()
    context(rows, OFFSETS)[4].sum().backward()  # the first instance of the last bag
    changed = rows.grad.abs().sum(dim=1) > 0
    assert changed.tolist() == [False] * 4 + [True] * 5


@every_context
@every_level
def test_bag_model_with_a_context_does_not_depend_on_the_order_of_instances(kind, level):
    model, rows, order = LEVELS[level](kind(WIDTH)).double(), sample_rows(), permute_within_bags()
    found, expected = model(rows[order], OFFSETS), model(rows, OFFSETS)
    torch.testing.assert_close(found.scores, expected.scores)
    torch.testing.assert_close(found.weights, expected.weights[order])


@every_context
@every_level
def test_bag_model_with_a_context_computes_packed_bags_as_single_bags(kind, level):
    model, rows = LEVELS[level](kind(WIDTH)).double(), sample_rows()
    packed = model(rows, OFFSETS)
    for bag, part in enumerate(rows.split(OFFSETS.diff().tolist())):
        single = model(part, torch.tensor([0, len(part)]))
        torch.testing.assert_close(single.scores[0], packed.scores[bag])
        torch.testing.assert_close(single.weights, packed.weights[OFFSETS[bag] : OFFSETS[bag + 1]])


@every_context
@every_level
def test_bag_model_with_a_context_has_the_gradients_of_finite_differences(kind, level):
    model = LEVELS[level](kind(WIDTH)).double()
    names, values = zip(*model.named_parameters(), strict=True)

    def compute_scores(rows, *parameters):
        named = dict(zip(names, parameters, strict=True))
        return torch.func.functional_call(model, named, (rows, OFFSETS)).scores

    assert torch.autograd.gradcheck(compute_scores, (sample_rows().requires_grad_(), *values))


@every_context
def test_embed_applies_the_encoder_and_then_the_context(kind):
    context, rows = kind(WIDTH).double(), sample_rows()
    model = LEVELS["embedding"](context).double()
    assert torch.equal(model.embed(rows, OFFSETS), context(model.encoder(rows), OFFSETS))


def test_embed_without_a_context_is_the_encoder():
    model, rows = LEVELS["embedding"](None).double(), sample_rows()
    assert torch.equal(model.embed(rows, OFFSETS), model.encoder(rows))
    assert not model.mixes_instances
    assert list(model.get_parts_before_head()) == ["encoder", "pooling"]
    assert not any("context" in name for name in model.state_dict())


@every_context
def test_replace_encoder_shares_the_other_parts(kind):
    model, encoder = LEVELS["embedding"](kind(WIDTH)), nn.Linear(5, WIDTH)
    other = model.replace_encoder(encoder)
    assert other.get_parts_before_head() == {"encoder": encoder, "context": model.context, "pooling": model.pooling}
    assert other.head is model.head


@every_context
def test_scores_in_context_applies_the_classifier_to_the_embeddings_of_the_context(kind):
    context, classifier, rows = kind(WIDTH).double(), nn.Linear(WIDTH, 2).double(), sample_rows(WIDTH)
    scores = ScoresInContext(context, classifier)
    assert torch.equal(scores(rows, OFFSETS), classifier(context(rows, OFFSETS)))
    assert (scores.title, scores.supports_streaming) == (kind.__name__, False)
    assert ScoresInContext(PerInstance(WIDTH), classifier).supports_streaming


@every_level
def test_find_streaming_obstacle_names_the_context(level):
    reason = "the context SelfAttention needs all instances of a bag together"
    assert LEVELS[level](SelfAttention(WIDTH)).find_streaming_obstacle() == reason
    assert LEVELS[level](PerInstance(WIDTH)).find_streaming_obstacle() == ""
    assert LEVELS[level](None).find_streaming_obstacle() == ""


def test_find_streaming_obstacle_names_a_pooling_that_is_not_additive():
    with unchecked():
        model = BagModel(nn.Identity(), nn.Identity(), nn.Identity())
    assert model.find_streaming_obstacle() == "the pooling Identity needs all instances of a bag together"


def build(context, **changes):
    options = {"encoder": "mlp", "pooling": "max", "level": "embedding", "dropout": None}
    return build_bag_model(
        (3,),
        Bernoulli(),
        context=context,
        settings=PoolingSettings(),
        generator=torch.Generator().manual_seed(0),
        **{**options, **changes},
    )


@every_context
@pytest.mark.parametrize("level", ["embedding", "instance"])
def test_build_bag_model_keeps_the_weights_and_the_mode_of_a_context(kind, level):
    context = kind(64)
    before = {name: value.clone() for name, value in context.state_dict().items()}
    model = build(context, level=level)
    assert context in set(model.modules())
    assert isinstance(model.pooling, Max)
    assert context.training
    assert all(torch.equal(before[name], value) for name, value in context.state_dict().items())


@every_context
def test_build_bag_model_initialises_the_other_parts_as_without_a_context(kind):
    with_context, without = build(kind(64)).state_dict(), build(None).state_dict()
    assert all(torch.equal(with_context[name], value) for name, value in without.items())


class FirstColumn(Context):
    def forward(self, embeddings, offsets):
        return embeddings[:, :1]


@pytest.mark.parametrize(
    ("context", "changes", "message"),
    [
        ("transformer", {}, "context must be None or a bagwise.nn.Context, got 'transformer'"),
        (nn.Identity(), {}, "context must be None or a bagwise.nn.Context, got Identity"),
        (SelfAttention(5), {}, "context SelfAttention cannot be applied to embeddings of width 64: "),
        (FirstColumn(), {}, r"context FirstColumn must keep the shape of the embeddings, \(3, 64\), got \(3, 1\)"),
        (SelfAttention(448), {"connections": "deep supervision"}, "context would mix the layers; use context=None or"),
    ],
    ids=["name", "module", "width", "shape", "connections"],
)
def test_build_bag_model_rejects_a_wrong_context(context, changes, message):
    with unchecked(), pytest.raises(InputError, match=message):
        build(context, **changes)
