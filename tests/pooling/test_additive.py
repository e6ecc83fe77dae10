"""Every pooling in pieces: what the pieces add up to decides the pooled value, as the whole bag does."""

import copy
import math
from functools import reduce

import pytest
import torch
from torch import nn

from bagwise.pooling import POOLINGS, AdditivePooling, AttendedScores, AttentionPooling, Settings
from bagwise.pooling.additive import alone, equal_shares, log_means, log_sums
from sensible_models import LIKELIHOODS, every


def pooling_of(case, heads=2):
    """The pooling and the width of what it takes."""
    name, level, likelihood = case
    settings, classes = Settings(attention_width=3, heads=heads), LIKELIHOODS[likelihood]
    if level == "embedding":
        return POOLINGS[name].for_embeddings(5, settings), 5
    pooling = POOLINGS[name].for_scores(5, classes, settings)
    if isinstance(pooling, AttentionPooling):
        return AttendedScores(pooling, nn.Linear(5, classes.n_scores)), 5
    return pooling, classes.n_scores


def whole(rows):
    return torch.tensor([0, len(rows)])


def totals_of(pooling, values, most):
    parts = [pooling.summarise(pooling.terms(part), whole(part)) for part in values.split(most)]
    return reduce(pooling.merge, parts)


@every
@pytest.mark.parametrize("most", [1, 2, 7, 50])
@pytest.mark.parametrize("scale", [1, 300])
def test_merged_pieces_conclude_what_the_whole_bag_does(case, most, scale):
    pooling, width = pooling_of(case)
    pooling, values = pooling.double(), torch.randn(15, width, dtype=torch.float64) * scale
    dense = pooling(values, whole(values))
    totals = totals_of(pooling, values, most)
    torch.testing.assert_close(pooling.conclude(totals), dense.values, rtol=1e-12, atol=1e-12)
    weights = pooling.weigh(pooling.terms(values).exponents, totals, whole(values))
    torch.testing.assert_close(weights, dense.weights, rtol=1e-11, atol=1e-14)


@every
def test_packed_bags_add_up_each_for_itself(case):
    pooling, width = pooling_of(case)
    pooling, values = pooling.double(), torch.randn(9, width, dtype=torch.float64)
    packed = pooling.summarise(pooling.terms(values), torch.tensor([0, 3, 4, 9]))
    for bag, rows in enumerate(values.split([3, 1, 5])):
        for together, by_itself in zip(packed, pooling.summarise(pooling.terms(rows), whole(rows)), strict=True):
            torch.testing.assert_close(together[[bag]], by_itself, rtol=1e-12, atol=1e-12)


@every
def test_pieces_in_float32_lose_no_more_digits_than_the_whole_bag_does(case):
    pooling, width = pooling_of(case)
    values = 2 * torch.randn(30_000, width)
    exact = copy.deepcopy(pooling).double()(values.double(), whole(values)).values
    with torch.inference_mode():
        dense = pooling(values, whole(values)).values
        pieces = pooling.conclude(totals_of(pooling, values, 1000)).float()
    assert (pieces - exact).norm() <= 1.05 * (dense - exact).norm() + 2**-24 * exact.norm()


@pytest.mark.parametrize("name", POOLINGS)
def test_weights_of_a_large_bag_sum_to_one(name):
    pooling, width = pooling_of((name, "instance", "bernoulli"))
    values = torch.randn(300_000, width) * 3
    with torch.inference_mode():
        totals = totals_of(pooling, values, 4000)
        weights = pooling.weigh(pooling.terms(values).exponents, totals, whole(values)).float()
    torch.testing.assert_close(weights.double().sum(0), torch.ones(weights.shape[1]).double(), rtol=0, atol=1e-6)


@every
def test_the_gradient_reaches_a_piece_through_its_own_share_of_the_totals(case):
    """With the reference held fixed, Σ over the pieces of dS·∂L/∂S + dV·∂L/∂V is the gradient of the whole."""
    pooling, width = pooling_of(case)
    pooling, values = pooling.double(), torch.randn(11, width, dtype=torch.float64)
    direction = torch.randn(1, pooling(values, whole(values)).values.shape[1], dtype=torch.float64)
    leaf = values.clone().requires_grad_()
    (expected,) = torch.autograd.grad(pooling(leaf, whole(leaf)).values, leaf, direction)
    totals = totals_of(pooling, values, 4)
    ends = totals._replace(sums=totals.sums.detach().requires_grad_(), rows=totals.rows.detach().requires_grad_())
    by_ends = torch.autograd.grad(
        pooling.conclude(ends), (ends.sums, ends.rows), direction, materialize_grads=True, allow_unused=True
    )
    found = []
    for part in values.split(4):
        leaf = part.clone().requires_grad_()
        own = pooling.summarise(pooling.terms(leaf), whole(leaf), totals.peaks)
        found.append(torch.autograd.grad((own.sums * by_ends[0]).sum() + (own.rows * by_ends[1]).sum(), leaf)[0])
    torch.testing.assert_close(torch.cat(found), expected, rtol=1e-10, atol=1e-13)


def test_pieces_of_very_different_exponents_neither_overflow_nor_vanish():
    pooling = POOLINGS["isr"]()
    totals = totals_of(pooling, torch.tensor([[-1e4], [3e4], [3e4 - 1.0], [-3e4]]), 1)
    assert log_sums(totals).item() == pytest.approx(3e4 + math.log1p(math.exp(-1)), abs=1e-9)


def test_sums_and_means_are_logarithms_and_shares_are_equal():
    class Plain(AdditivePooling):
        title = "plain"

        def terms(self, values):
            return alone(values)

        def conclude(self, totals):
            return log_means(totals)

        def weigh(self, exponents, totals, offsets):
            return equal_shares(totals, offsets)

    values = torch.tensor([[1.0], [2.0], [6.0]]).log()
    pooled, weights = Plain()(values, torch.tensor([0, 3]))
    assert pooled.item() == pytest.approx(torch.tensor(3.0).log().item(), abs=1e-7)
    assert weights.ravel().tolist() == pytest.approx([1 / 3] * 3, abs=1e-7)
    assert pooled.dtype == weights.dtype == torch.float32
