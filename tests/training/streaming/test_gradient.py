"""Two passes over pieces give the gradients of one pass over the whole, to the last digits of float64."""

import numpy as np
import pytest
import torch
from torch import nn

from bagwise.augmentation import AffineAugmentation
from bagwise.bags import Bags
from bagwise.dropout import Dropout
from bagwise.errors import InputError
from bagwise.inputs import Prepare, Scaling
from bagwise.likelihoods import Bernoulli
from bagwise.models import embedding_level
from bagwise.places import Place, set_place
from bagwise.pooling import Attention, Max, NoisyAnd
from bagwise.training.batches import tensors
from bagwise.training.streaming.gradient import streamed_scores
from sensible_models import LIKELIHOODS, every, model_of

CPU = torch.device("cpu")
CHOSEN = np.array([2, 1, 4, 0])  # neither all bags nor in their order
TARGETS = torch.tensor([0, 1, 1, 0])
pieces = pytest.mark.parametrize("most", [1, 2, 7, 100])


def bags_of(shape=(4,)):
    generator = np.random.default_rng(3)
    return Bags.from_list([generator.normal(size=(size, *shape)) for size in (3, 11, 1, 6, 2)])


def dense_scores(model, bags):
    return model(*tensors(bags[CHOSEN], CPU)).scores


def gradients(model, likelihood, compute):
    """Scores, and the gradient of the loss by every parameter, at one place of a run."""
    model.train()
    set_place(model, Place(seed=5, step=7))
    scores = compute()
    loss = (likelihood.loss(scores, TARGETS) * torch.tensor([1.0, 2.0, 0.5, 1.0])).mean()
    return scores, torch.autograd.grad(loss, list(model.parameters()), allow_unused=True)


def assert_same(model, likelihood, bags, most):
    scores, expected = gradients(model, likelihood, lambda: dense_scores(model, bags))
    in_pieces, found = gradients(model, likelihood, lambda: streamed_scores(model, bags, CHOSEN, CPU, most))
    torch.testing.assert_close(in_pieces, scores, rtol=1e-11, atol=1e-12)
    for own, whole in zip(found, expected, strict=True):
        torch.testing.assert_close(own, whole, rtol=1e-10, atol=1e-13)


@every
@pytest.mark.parametrize(("heads", "most"), [(1, 1), (1, 100), (2, 2), (2, 7)])
def test_every_pooling_under_dropout(case, heads, most):
    assert_same(model_of(case, heads, dropout=0.5).double(), LIKELIHOODS[case[2]], bags_of(), most)


@pieces
@pytest.mark.parametrize("pooling", ["gated attention", "max"])
def test_augmented_images_through_a_convolutional_encoder(pooling, most):
    model = model_of((pooling, "embedding", "bernoulli"), shape=(16, 16), encoder="lenet", dropout=0.3)
    prepare = Prepare((16, 16), Scaling(np.zeros(1), np.ones(1)))
    model.encoder = nn.Sequential(AffineAugmentation(), prepare, model.encoder)
    assert_same(model.double(), Bernoulli(), bags_of((16, 16)), most)


@pieces
def test_dropout_that_a_network_uses_twice_and_dropout_behind_the_pooling(most):
    shared = Dropout(0.4)
    encoder = nn.Sequential(nn.Linear(4, 6), shared, nn.Linear(6, 6), shared)
    model = embedding_level(encoder, Attention(6, 3), nn.Sequential(Dropout(0.5), nn.Linear(6, 1)))
    assert_same(model.double(), Bernoulli(), bags_of(), most)


@pieces
def test_ties_share_the_gradient_across_pieces(most):
    rows = np.repeat(bags_of().instances[:3], 4, axis=0)
    bags = Bags(rows, np.array([0, 5, 8, 9, 10, 12]))
    assert_same(embedding_level(nn.Linear(4, 3), Max(), nn.Linear(3, 1)).double(), Bernoulli(), bags, most)


def test_parameters_that_do_not_learn_and_those_behind_the_sums():
    encoder = nn.Linear(4, 1).requires_grad_(False)
    model = embedding_level(encoder, NoisyAnd(), nn.Identity()).double()
    scores = streamed_scores(model, bags_of(), CHOSEN, CPU, 2)
    scores.sum().backward()
    assert model.pooling.threshold.grad.any()
    assert encoder.weight.grad is None


@pytest.mark.parametrize("most", [2, 7])
def test_what_modules_of_others_draw_is_drawn_again_in_the_second_pass(most):
    """Where masks of nn.Dropout differed between the passes, moving a parameter would not change the loss as told."""
    encoder = nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Dropout(0.5))
    head = nn.Sequential(nn.Dropout(0.5), nn.Linear(5, 1))
    model = embedding_level(encoder, Attention(5, 3), head).double().train()
    weight = encoder[0].weight

    def loss():
        torch.manual_seed(1)
        return Bernoulli().loss(streamed_scores(model, bags_of(), CHOSEN, CPU, most), TARGETS).sum()

    (found,) = torch.autograd.grad(loss(), weight)
    for row, column in ((0, 0), (2, 3), (4, 1)):
        step = torch.zeros_like(weight)
        step[row, column] = 1e-5
        with torch.no_grad():
            weight += step
            above = loss().item()
            weight -= 2 * step
            below = loss().item()
            weight += step
        assert found[row, column].item() == pytest.approx((above - below) / 2e-5, rel=1e-6, abs=1e-9)


def test_each_call_draws_anew_and_leaves_the_generator_where_it_does_not_repeat():
    encoder = nn.Sequential(nn.Linear(4, 5), nn.Dropout(0.5))
    model = embedding_level(encoder, Attention(5, 3), nn.Linear(5, 1)).double().train()
    first, second = (streamed_scores(model, bags_of(), CHOSEN, CPU, 2) for _ in range(2))
    assert not torch.equal(first, second)


def test_gradients_in_float32_are_those_of_the_whole():
    rows = np.random.default_rng(0).normal(size=(5000, 16)).astype(np.float32)
    bags = Bags(rows, np.array([0, 5000]))
    model = model_of(("gated attention", "embedding", "bernoulli"), shape=(16,), dropout=0.5).train()

    def found(compute):
        set_place(model, Place(5, 7))
        return torch.autograd.grad(Bernoulli().loss(compute(), torch.tensor([1])).sum(), list(model.parameters()))

    dense = found(lambda: model(*tensors(bags, CPU)).scores)
    for own, whole in zip(found(lambda: streamed_scores(model, bags, np.arange(1), CPU, 512)), dense, strict=True):
        assert (own - whole).norm() <= 1e-5 * whole.norm()


@pytest.mark.parametrize("inside", ["encoder", "pooling"])
def test_batch_normalisation_is_refused_with_what_to_do(inside):
    encoder, pooling = nn.Sequential(nn.Linear(4, 5)), Attention(5, 3)
    (encoder if inside == "encoder" else pooling).add_module("norm", nn.BatchNorm1d(5))
    model = embedding_level(encoder, pooling, nn.Linear(5, 1)).double().train()
    with pytest.raises(InputError, match=rf"the {inside} normalises by batch \('norm', BatchNorm1d\).*use LayerNorm"):
        streamed_scores(model, bags_of(), CHOSEN, CPU, 2)


@pieces
def test_normalisation_within_an_instance_or_behind_the_pooling_is_welcome(most):
    encoder = nn.Sequential(nn.Linear(4, 5), nn.LayerNorm(5))
    head = nn.Sequential(nn.BatchNorm1d(5), nn.Linear(5, 1))
    assert_same(embedding_level(encoder, Attention(5, 3), head).double(), Bernoulli(), bags_of(), most)
