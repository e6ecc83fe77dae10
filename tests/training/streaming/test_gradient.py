"""Two passes over pieces give the gradients of one pass over the whole batch, up to rounding in float64."""

import numpy as np
import pytest
import torch
from torch import nn

from bagwise.bags.bags import Bags
from bagwise.errors import InputError
from bagwise.nn.augmentation import AffineAugmentation
from bagwise.nn.bag_model import arrange_embedding_level
from bagwise.nn.dropout import Dropout, StreamPosition, set_stream_position
from bagwise.nn.pooling.attention import Attention
from bagwise.nn.pooling.linear import Mean
from bagwise.nn.pooling.maximum import Max
from bagwise.nn.pooling.probability import NoisyAnd
from bagwise.nn.preprocessing import Preprocessing, Scaling
from bagwise.targets.class_likelihoods import Bernoulli
from bagwise.training.batches import bags_to_tensors
from bagwise.training.streaming.gradient import ReplayedBatch, stream_scores
from contexts import PerInstance
from sensible_models import LIKELIHOODS, every, model_of

CPU = torch.device("cpu")
CHOSEN = np.array([2, 1, 4, 0])  # not all bags, and not in their order
TARGETS = torch.tensor([0, 1, 1, 0])

every_size = pytest.mark.parametrize("max_rows", [1, 2, 7, 100])


def bags_of(shape=(4,)):
    generator = np.random.default_rng(3)
    return Bags.from_list([generator.normal(size=(size, *shape)) for size in (3, 11, 1, 6, 2)])


def compute_whole_scores(model, bags):
    return model(*bags_to_tensors(bags[CHOSEN], CPU)).scores


def compute_gradients(model, likelihood, compute_scores):
    """Return the scores and the gradients of the loss by all parameters, at a fixed position of a run."""
    model.train()
    set_stream_position(model, StreamPosition(seed=5, step=7))
    scores = compute_scores()
    loss = (likelihood.loss(scores, TARGETS) * torch.tensor([1.0, 2.0, 0.5, 1.0])).mean()
    return scores, torch.autograd.grad(loss, list(model.parameters()), allow_unused=True)


def assert_same_as_whole(model, likelihood, bags, max_rows):
    scores, expected = compute_gradients(model, likelihood, lambda: compute_whole_scores(model, bags))
    in_pieces, found = compute_gradients(model, likelihood, lambda: stream_scores(model, bags, CHOSEN, CPU, max_rows))
    torch.testing.assert_close(in_pieces, scores, rtol=1e-11, atol=1e-12)
    for own, whole in zip(found, expected, strict=True):
        torch.testing.assert_close(own, whole, rtol=1e-10, atol=1e-13)


@every
@pytest.mark.parametrize(
    ("heads", "max_rows"),
    [(1, 1), pytest.param(1, 100, marks=pytest.mark.full), pytest.param(2, 2, marks=pytest.mark.full), (2, 7)],
)
def test_stream_scores_with_dropout_equal_the_whole_batch_for_every_pooling(case, heads, max_rows):
    assert_same_as_whole(model_of(case, heads, dropout=0.5).double(), LIKELIHOODS[case[2]], bags_of(), max_rows)


@every_size
@pytest.mark.parametrize("pooling", ["gated attention", "max"])
def test_stream_scores_of_augmented_images_equal_the_whole_batch(pooling, max_rows):
    model = model_of((pooling, "embedding", "bernoulli"), shape=(16, 16), encoder="lenet", dropout=0.3)
    preprocess = Preprocessing((16, 16), Scaling(np.zeros(1), np.ones(1)))
    model.encoder = nn.Sequential(AffineAugmentation(), preprocess, model.encoder)
    assert_same_as_whole(model.double(), Bernoulli(), bags_of((16, 16)), max_rows)


@every_size
def test_stream_scores_with_shared_dropout_and_dropout_in_the_head_equal_the_whole_batch(max_rows):
    shared = Dropout(0.4)
    encoder = nn.Sequential(nn.Linear(4, 6), shared, nn.Linear(6, 6), shared)
    model = arrange_embedding_level(encoder, Attention(6, 3), nn.Sequential(Dropout(0.5), nn.Linear(6, 1)))
    assert_same_as_whole(model.double(), Bernoulli(), bags_of(), max_rows)


@every_size
def test_stream_scores_split_the_gradient_among_ties_in_different_pieces(max_rows):
    rows = np.repeat(bags_of().instances[:3], 4, axis=0)
    bags = Bags(rows, np.array([0, 5, 8, 9, 10, 12]))
    model = arrange_embedding_level(nn.Linear(4, 3), Max(), nn.Linear(3, 1)).double()
    assert_same_as_whole(model, Bernoulli(), bags, max_rows)


@every_size
def test_stream_scores_accept_layer_normalization_and_batch_normalization_in_the_head(max_rows):
    encoder = nn.Sequential(nn.Linear(4, 5), nn.LayerNorm(5))
    head = nn.Sequential(nn.BatchNorm1d(5), nn.Linear(5, 1))
    model = arrange_embedding_level(encoder, Attention(5, 3), head).double()
    assert_same_as_whole(model, Bernoulli(), bags_of(), max_rows)


@every_size
def test_stream_scores_with_a_context_that_supports_streaming_equal_the_whole_batch(max_rows):
    model = arrange_embedding_level(nn.Linear(4, 5), Attention(5, 3), nn.Linear(5, 1), PerInstance(5)).double()
    assert_same_as_whole(model, Bernoulli(), bags_of(), max_rows)


@pytest.mark.parametrize("inside", ["encoder", "pooling"])
def test_stream_scores_reject_batch_normalization_before_the_head_with_the_fix(inside):
    encoder, pooling = nn.Sequential(nn.Linear(4, 5)), Attention(5, 3)
    (encoder if inside == "encoder" else pooling).add_module("norm", nn.BatchNorm1d(5))
    model = arrange_embedding_level(encoder, pooling, nn.Linear(5, 1)).double().train()
    message = rf"the {inside} contains batch normalisation \('norm', BatchNorm1d\).*use LayerNorm"
    with pytest.raises(InputError, match=message):
        stream_scores(model, bags_of(), CHOSEN, CPU, 2)


def test_stream_scores_give_gradients_to_trainable_parameters_only():
    encoder = nn.Linear(4, 1).requires_grad_(False)
    model = arrange_embedding_level(encoder, NoisyAnd(), nn.Identity()).double()
    scores = stream_scores(model, bags_of(), CHOSEN, CPU, 2)
    scores.sum().backward()
    assert model.pooling.threshold.grad.any()
    assert encoder.weight.grad is None


@pytest.mark.parametrize("max_rows", [2, 7])
def test_stream_scores_with_torch_dropout_have_gradients_that_agree_with_finite_differences(max_rows):
    """If the masks of nn.Dropout differed between the two passes, the gradient would be wrong."""
    encoder = nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Dropout(0.5))
    head = nn.Sequential(nn.Dropout(0.5), nn.Linear(5, 1))
    model = arrange_embedding_level(encoder, Attention(5, 3), head).double().train()
    weight = encoder[0].weight

    def loss():
        torch.manual_seed(1)
        return Bernoulli().loss(stream_scores(model, bags_of(), CHOSEN, CPU, max_rows), TARGETS).sum()

    (gradient,) = torch.autograd.grad(loss(), weight)
    for row, column in ((0, 0), (2, 3), (4, 1)):
        step = torch.zeros_like(weight)
        step[row, column] = 1e-5
        with torch.no_grad():
            weight += step
            above = loss().item()
            weight -= 2 * step
            below = loss().item()
            weight += step
        assert gradient[row, column].item() == pytest.approx((above - below) / 2e-5, rel=1e-6, abs=1e-9)


def test_stream_scores_sample_new_torch_dropout_masks_in_each_call():
    encoder = nn.Sequential(nn.Linear(4, 5), nn.Dropout(0.5))
    model = arrange_embedding_level(encoder, Attention(5, 3), nn.Linear(5, 1)).double().train()
    first, second = (stream_scores(model, bags_of(), CHOSEN, CPU, 2) for _ in range(2))
    assert not torch.equal(first, second)


def test_stream_scores_in_float32_have_the_gradients_of_the_whole_batch():
    rows = np.random.default_rng(0).normal(size=(5000, 16)).astype(np.float32)
    bags = Bags(rows, np.array([0, 5000]))
    model = model_of(("gated attention", "embedding", "bernoulli"), shape=(16,), dropout=0.5).train()

    def gradients(compute_scores):
        set_stream_position(model, StreamPosition(5, 7))
        loss = Bernoulli().loss(compute_scores(), torch.tensor([1])).sum()
        return torch.autograd.grad(loss, list(model.parameters()))

    expected = gradients(lambda: model(*bags_to_tensors(bags, CPU)).scores)
    in_pieces = gradients(lambda: stream_scores(model, bags, np.arange(1), CPU, 512))
    for own, whole in zip(in_pieces, expected, strict=True):
        assert (own - whole).norm() <= 1e-5 * whole.norm()


REPLAYED_BAGS = Bags.from_list([np.ones((size, 6)) for size in (5, 2, 1)])
REPLAYED = np.array([2, 0, 1])


def model_with(dropout):
    return arrange_embedding_level(dropout, Mean(), nn.Identity()).train()


def replay(model, max_rows=2):
    return ReplayedBatch(model=model, bags=REPLAYED_BAGS, chosen=REPLAYED, device=CPU, max_rows=max_rows)


def collect_masks(model, batch):
    return torch.cat([model.encoder(torch.ones(piece.bags.n_instances, 6)) for piece in batch])


def test_replayed_batch_samples_the_dropout_masks_of_the_whole_batch_in_every_pass():
    model = model_with(Dropout(0.5))
    set_stream_position(model, StreamPosition(3, 9))
    whole = model.encoder(torch.ones(8, 6))
    for max_rows in (1, 2, 4):
        batch = replay(model, max_rows)
        for _ in range(2):
            torch.testing.assert_close(collect_masks(model, batch), whole, rtol=0, atol=0)
    assert model.encoder.position == StreamPosition(3, 9)
    assert model.encoder.uses == 0


def test_replayed_batch_repeats_torch_dropout_masks_and_keeps_the_global_random_state():
    model = model_with(nn.Dropout(0.5))
    batch = replay(model)
    before = torch.get_rng_state()
    first = collect_masks(model, batch)
    assert torch.equal(torch.get_rng_state(), before)
    torch.rand(3)  # a head may use random numbers between the two passes
    torch.testing.assert_close(collect_masks(model, batch), first, rtol=0, atol=0)
    assert not torch.equal(first[1:3], first[3:5])  # pieces have different masks


def test_replayed_batch_samples_other_torch_dropout_masks_than_another_batch():
    model = model_with(nn.Dropout(0.5))
    first, second = (collect_masks(model, replay(model)) for _ in range(2))
    assert not torch.equal(first, second)
