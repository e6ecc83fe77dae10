"""Tests that pooling in pieces gives the pooled values and weights of the whole bag."""

import copy
import math
from functools import reduce

import pytest
import torch
from torch import nn

from bagwise.nn.pooling.additive import (
    AdditivePooling,
    compute_log_means,
    compute_log_sums,
    make_equal_shares,
    make_rowless_terms,
)
from bagwise.nn.pooling.attention import AttendedScores, AttentionPooling
from bagwise.nn.pooling.base import PoolingSettings
from bagwise.nn.pooling.registry import POOLINGS
from sensible_models import LIKELIHOODS, every


def pooling_of(case, heads=2):
    """Return the pooling and the width of its input."""
    name, level, likelihood = case
    settings, classes = PoolingSettings(attention_width=3, heads=heads), LIKELIHOODS[likelihood]
    if level == "embedding":
        return POOLINGS[name].for_embeddings(5, settings), 5
    pooling = POOLINGS[name].for_scores(5, classes, settings)
    if isinstance(pooling, AttentionPooling):
        return AttendedScores(pooling, nn.Linear(5, classes.n_scores)), 5
    return pooling, classes.n_scores


def one_bag(rows):
    """Return the offsets of one bag that consists of these rows."""
    return torch.tensor([0, len(rows)])


def merged_totals(pooling, values, max_rows):
    parts = [pooling.accumulate(pooling.terms(part), one_bag(part)) for part in values.split(max_rows)]
    return reduce(pooling.merge, parts)


@every
@pytest.mark.parametrize(
    ("max_rows", "scale"),
    [pytest.param(1, 300, marks=pytest.mark.full), (2, 1), (7, 300), pytest.param(50, 1, marks=pytest.mark.full)],
)
def test_merge_of_pieces_gives_values_and_weights_of_the_whole_bag(case, max_rows, scale):
    pooling, width = pooling_of(case)
    pooling, values = pooling.double(), torch.randn(15, width, dtype=torch.float64) * scale
    expected = pooling(values, one_bag(values))
    totals = merged_totals(pooling, values, max_rows)
    torch.testing.assert_close(pooling.finalize(totals), expected.values, rtol=1e-12, atol=1e-12)
    weights = pooling.weigh(pooling.terms(values).exponents, totals, one_bag(values))
    torch.testing.assert_close(weights, expected.weights, rtol=1e-11, atol=1e-14)


@every
def test_accumulate_of_packed_bags_equals_the_totals_of_each_bag(case):
    pooling, width = pooling_of(case)
    pooling, values = pooling.double(), torch.randn(9, width, dtype=torch.float64)
    packed = pooling.accumulate(pooling.terms(values), torch.tensor([0, 3, 4, 9]))
    for bag, rows in enumerate(values.split([3, 1, 5])):
        single = pooling.accumulate(pooling.terms(rows), one_bag(rows))
        for packed_total, single_total in zip(packed, single, strict=True):
            torch.testing.assert_close(packed_total[[bag]], single_total, rtol=1e-12, atol=1e-12)


@every
def test_merge_in_float32_is_as_accurate_as_pooling_the_whole_bag(case):
    pooling, width = pooling_of(case)
    values = 2 * torch.randn(30_000, width)
    exact = copy.deepcopy(pooling).double()(values.double(), one_bag(values)).values
    with torch.inference_mode():
        whole = pooling(values, one_bag(values)).values
        pieces = pooling.finalize(merged_totals(pooling, values, 1000)).float()
    assert (pieces - exact).norm() <= 1.05 * (whole - exact).norm() + 2**-24 * exact.norm()


@pytest.mark.parametrize("name", POOLINGS)
def test_weigh_returns_weights_of_a_large_bag_that_sum_to_one(name):
    pooling, width = pooling_of((name, "instance", "bernoulli"))
    values = torch.randn(300_000, width) * 3
    with torch.inference_mode():
        totals = merged_totals(pooling, values, 4000)
        weights = pooling.weigh(pooling.terms(values).exponents, totals, one_bag(values)).float()
    torch.testing.assert_close(weights.double().sum(0), torch.ones(weights.shape[1]).double(), rtol=0, atol=1e-6)


@every
def test_accumulate_with_fixed_peaks_gives_the_gradient_of_each_piece(case):
    """With fixed peaks, Σ over the pieces of dS·∂L/∂S + dV·∂L/∂V is the gradient of the whole bag."""
    pooling, width = pooling_of(case)
    pooling, values = pooling.double(), torch.randn(11, width, dtype=torch.float64)
    direction = torch.randn(1, pooling(values, one_bag(values)).values.shape[1], dtype=torch.float64)
    leaf = values.clone().requires_grad_()
    (expected,) = torch.autograd.grad(pooling(leaf, one_bag(leaf)).values, leaf, direction)
    totals = merged_totals(pooling, values, 4)
    leaves = totals._replace(sums=totals.sums.detach().requires_grad_(), rows=totals.rows.detach().requires_grad_())
    by_sums, by_rows = torch.autograd.grad(
        pooling.finalize(leaves), (leaves.sums, leaves.rows), direction, materialize_grads=True, allow_unused=True
    )
    gradients = []
    for part in values.split(4):
        leaf = part.clone().requires_grad_()
        own = pooling.accumulate(pooling.terms(leaf), one_bag(leaf), totals.peaks)
        gradients.append(torch.autograd.grad((own.sums * by_sums).sum() + (own.rows * by_rows).sum(), leaf)[0])
    torch.testing.assert_close(torch.cat(gradients), expected, rtol=1e-10, atol=1e-13)


def test_merge_of_very_different_exponents_neither_overflows_nor_underflows():
    pooling = POOLINGS["isr"]()
    totals = merged_totals(pooling, torch.tensor([[-1e4], [3e4], [3e4 - 1.0], [-3e4]]), 1)
    assert compute_log_sums(totals).item() == pytest.approx(3e4 + math.log1p(math.exp(-1)), abs=1e-9)


def test_forward_of_a_custom_additive_pooling_uses_its_terms_and_keeps_the_dtype():
    class LogMean(AdditivePooling):
        title = "log mean"

        def terms(self, values):
            return make_rowless_terms(values)

        def finalize(self, totals):
            return compute_log_means(totals)

        def weigh(self, exponents, totals, offsets):
            return make_equal_shares(totals, offsets)

    values = torch.tensor([[1.0], [2.0], [6.0]]).log()
    pooled, weights = LogMean()(values, torch.tensor([0, 3]))
    assert pooled.item() == pytest.approx(torch.tensor(3.0).log().item(), abs=1e-7)
    assert weights.ravel().tolist() == pytest.approx([1 / 3] * 3, abs=1e-7)
    assert pooled.dtype == weights.dtype == torch.float32
