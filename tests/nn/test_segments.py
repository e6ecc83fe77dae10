"""Comparison of reductions within bags, and of their derivatives, with loops over bags."""

import math
from itertools import pairwise

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from bagwise.nn import segments

LAYOUTS = [[1], [4], [1, 1], [3, 1, 2]]
REDUCTIONS = {
    "sum": (segments.segment_sum, math.fsum),
    "mean": (segments.segment_mean, lambda column: math.fsum(column) / len(column)),
    "max": (segments.segment_max, max),
    "log_sum_exp": (segments.segment_log_sum_exp, lambda column: math.log(math.fsum(map(math.exp, column)))),
}
layouts = pytest.mark.parametrize("sizes", LAYOUTS, ids=str)
random_sizes = st.lists(st.integers(1, 9), min_size=1, max_size=12)
laws = settings(max_examples=40, deadline=None, derandomize=True)


def offsets_of(sizes):
    return torch.tensor([0, *sizes]).cumsum(0)


def rows_of(sizes, width=3, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(sum(sizes), width, dtype=torch.float64, generator=generator)


def columns_of(values, start, end):
    return [[float(values[row, column]) for row in range(start, end)] for column in range(values.shape[1])]


def per_bag_loop(reduce, values, offsets):
    bags = pairwise(offsets.tolist())
    return torch.tensor([[reduce(column) for column in columns_of(values, *bag)] for bag in bags], dtype=torch.float64)


def per_row_loop(transform, values, offsets):
    """Transform each column of each bag into a column of the same length."""
    parts = [
        torch.tensor([transform(column) for column in columns_of(values, *bag)], dtype=torch.float64).T
        for bag in pairwise(offsets.tolist())
    ]
    return torch.cat(parts)


def softmax_of(column):
    total = math.fsum(map(math.exp, column))
    return [math.exp(score) / total for score in column]


def shares_of(column):
    return [(value == max(column)) / column.count(max(column)) for value in column]


def weighted_loop(values, weights, offsets):
    return torch.tensor(
        [
            [
                math.fsum(float(weights[row, head] * values[row, column]) for row in range(start, end))
                for head in range(weights.shape[1])
                for column in range(values.shape[1])
            ]
            for start, end in pairwise(offsets.tolist())
        ],
        dtype=torch.float64,
    )


def assert_exact(actual, expected):
    torch.testing.assert_close(actual, expected, rtol=1e-12, atol=1e-13)


@laws
@given(random_sizes, st.integers(0, 1000))
def test_segment_sizes_inverts_offsets(sizes, seed):
    assert segments.segment_sizes(offsets_of(sizes)).tolist() == sizes


@pytest.mark.parametrize("name", REDUCTIONS)
@laws
@given(sizes=random_sizes, seed=st.integers(0, 1000))
def test_segment_sum_mean_max_and_log_sum_exp_equal_the_loop_over_bags(name, sizes, seed):
    reduction, reduce = REDUCTIONS[name]
    values, offsets = rows_of(sizes, seed=seed), offsets_of(sizes)
    assert_exact(reduction(values, offsets), per_bag_loop(reduce, values, offsets))


@laws
@given(random_sizes, st.integers(0, 1000))
def test_segment_softmax_equals_the_loop_over_bags(sizes, seed):
    values, offsets = rows_of(sizes, seed=seed), offsets_of(sizes)
    assert_exact(segments.segment_softmax(values, offsets), per_row_loop(softmax_of, values, offsets))


@laws
@given(random_sizes, st.integers(0, 1000))
def test_segment_argmax_equals_the_loop_over_bags_and_splits_ties(sizes, seed):
    values, offsets = rows_of(sizes, seed=seed).round(), offsets_of(sizes)
    assert_exact(segments.segment_argmax(values, offsets), per_row_loop(shares_of, values, offsets))


@laws
@given(random_sizes, st.integers(0, 1000))
def test_segment_expand_repeats_the_row_of_each_bag(sizes, seed):
    per_bag = rows_of([len(sizes)], seed=seed)
    expected = torch.stack([per_bag[bag] for bag, size in enumerate(sizes) for _ in range(size)])
    assert_exact(segments.segment_expand(per_bag, offsets_of(sizes)), expected)


@pytest.mark.parametrize("heads", [1, 3])
@laws
@given(sizes=random_sizes, seed=st.integers(0, 1000))
def test_segment_weighted_sum_equals_the_loop_over_bags_and_concatenates_heads(heads, sizes, seed):
    values, offsets = rows_of(sizes, 2, seed=seed), offsets_of(sizes)
    weights = rows_of(sizes, heads, seed=seed + 1)
    assert_exact(segments.segment_weighted_sum(values, weights, offsets), weighted_loop(values, weights, offsets))


@laws
@given(random_sizes.filter(lambda sizes: len(sizes) > 1), st.data())
def test_segment_reductions_of_a_single_bag_equal_those_of_packed_bags(sizes, data):
    bag = data.draw(st.integers(0, len(sizes) - 1))
    values, offsets = rows_of(sizes), offsets_of(sizes)
    own = slice(int(offsets[bag]), int(offsets[bag + 1]))
    single = offsets_of([sizes[bag]])
    for reduction, _ in REDUCTIONS.values():
        assert_exact(reduction(values[own], single), reduction(values, offsets)[[bag]])
    for transform in (segments.segment_softmax, segments.segment_argmax):
        assert_exact(transform(values[own], single), transform(values, offsets)[own])
    packed = segments.segment_weighted_sum(values, values, offsets)
    assert_exact(segments.segment_weighted_sum(values[own], values[own], single), packed[[bag]])


@layouts
@pytest.mark.parametrize("reduction", [*(pair[0] for pair in REDUCTIONS.values()), segments.segment_softmax])
def test_segment_reductions_have_correct_first_and_second_derivatives(reduction, sizes):
    values, offsets = rows_of(sizes, 2).requires_grad_(), offsets_of(sizes)
    assert torch.autograd.gradcheck(lambda rows: reduction(rows, offsets), values)
    assert torch.autograd.gradgradcheck(lambda rows: reduction(rows, offsets), values)


@layouts
def test_segment_expand_has_correct_first_and_second_derivatives(sizes):
    per_bag, offsets = rows_of([len(sizes)], 2).requires_grad_(), offsets_of(sizes)
    assert torch.autograd.gradcheck(lambda rows: segments.segment_expand(rows, offsets), per_bag)
    assert torch.autograd.gradgradcheck(lambda rows: segments.segment_expand(rows, offsets), per_bag)


@layouts
@pytest.mark.parametrize("heads", [1, 3])
def test_segment_weighted_sum_has_correct_first_and_second_derivatives(sizes, heads):
    values, offsets = rows_of(sizes, 2).requires_grad_(), offsets_of(sizes)
    weights = rows_of(sizes, heads, seed=1).requires_grad_()
    pooled = lambda values, weights: segments.segment_weighted_sum(values, weights, offsets)  # noqa: E731
    assert torch.autograd.gradcheck(pooled, (values, weights))
    assert torch.autograd.gradgradcheck(pooled, (values, weights))


@pytest.mark.parametrize("neighbours", [[], [2], [1, 4]], ids=str)
def test_segment_max_splits_the_gradient_equally_among_ties(neighbours):
    bag = torch.tensor([[1.0, 0.0], [3.0, 0.0], [3.0, 0.0], [3.0, -1.0]])
    values = torch.cat([bag, torch.randn(sum(neighbours), 2)]).requires_grad_()
    segments.segment_max(values, offsets_of([4, *neighbours]))[0].sum().backward()
    third = 1 / 3
    expected = torch.tensor([[0, third], [third, third], [third, third], [third, 0]])
    torch.testing.assert_close(values.grad[:4], expected)
    assert not values.grad[4:].any()


EXTREMES = {
    "1e30 and -1e30": ([1e30, -1e30, 1e30], [0.5, 0.0, 0.5]),
    "all at -1e30": ([-1e30, -1e30], [0.5, 0.5]),
    "all at 1e30": ([1e30, 1e30, 1e30, 1e30], [0.25] * 4),
    "1e-30 and -1e-30": ([1e-30, -1e-30], [0.5, 0.5]),
    "huge differences": ([-3e38, 3e38, 0.0], [0.0, 1.0, 0.0]),
    "one instance": ([-1e30], [1.0]),
}


@pytest.mark.parametrize("name", EXTREMES)
@pytest.mark.parametrize("neighbours", [[], [3, 1]], ids=str)
def test_segment_softmax_and_log_sum_exp_of_extreme_scores_reach_their_limit_in_float32(name, neighbours):
    scores, limit = EXTREMES[name]
    own = len(scores)
    values = torch.cat([torch.tensor(scores), torch.ones(sum(neighbours))])[:, None].requires_grad_()
    offsets = offsets_of([own, *neighbours])
    weights, smooth_max = segments.segment_softmax(values, offsets), segments.segment_log_sum_exp(values, offsets)
    torch.testing.assert_close(weights[:own, 0], torch.tensor(limit), rtol=0, atol=1e-7)
    ties = math.log(scores.count(max(scores)) if abs(max(scores)) > 1e-20 else own)
    torch.testing.assert_close(smooth_max[0, 0], torch.tensor(max(scores) + ties))
    (gradient,) = torch.autograd.grad(smooth_max[0, 0], values, retain_graph=True)
    torch.testing.assert_close(gradient[:own, 0], torch.tensor(limit), rtol=0, atol=1e-7)
    (gradient,) = torch.autograd.grad(weights[0, 0], values)
    assert gradient.isfinite().all()


@pytest.mark.parametrize("sizes", [[1_000_000], [1_000_000, 1], [3, 1_000_000, 2]], ids=str)
@pytest.mark.parametrize("scale", [0.0, 5.0])
def test_segment_softmax_over_a_million_rows_sums_to_one_in_float32(sizes, scale):
    scores = (rows_of(sizes, 1) * scale).float()
    weights = segments.segment_softmax(scores, offsets_of(sizes)).double()
    totals = segments.segment_sum(weights, offsets_of(sizes))
    torch.testing.assert_close(totals, torch.ones_like(totals), rtol=0, atol=1e-5)


@pytest.mark.parametrize("sizes", [[1_000_000], [1_000_000, 1]], ids=str)
def test_segment_sum_mean_and_log_sum_exp_over_a_million_rows_are_accurate_in_float32(sizes):
    values = rows_of(sizes, 1).exp()
    for reduction in (segments.segment_sum, segments.segment_mean, segments.segment_log_sum_exp):
        expected = reduction(values, offsets_of(sizes))
        torch.testing.assert_close(reduction(values.float(), offsets_of(sizes)).double(), expected, rtol=1e-5, atol=0)


def test_segment_reductions_of_equal_sizes_equal_the_dense_reductions():
    sizes = [5] * 10_000
    values, offsets = rows_of(sizes, 2), offsets_of(sizes)
    dense = values.reshape(10_000, 5, 2)
    assert_exact(segments.segment_sum(values, offsets), dense.sum(1))
    assert_exact(segments.segment_mean(values, offsets), dense.mean(1))
    assert_exact(segments.segment_max(values, offsets), dense.amax(1))
    assert_exact(segments.segment_log_sum_exp(values, offsets), dense.logsumexp(1))
    assert_exact(segments.segment_softmax(values, offsets), dense.softmax(1).reshape(-1, 2))


def test_segment_sum_accepts_rows_without_columns_with_any_number_of_threads():
    before = torch.get_num_threads()
    try:
        for threads in (1, 2):
            torch.set_num_threads(threads)
            values = torch.zeros(400, 0, requires_grad=True)
            assert segments.segment_sum(values, torch.tensor([0, 100, 400])).shape == (2, 0)
    finally:
        torch.set_num_threads(before)


@laws
@given(random_sizes, st.integers(0, 99))
def test_segment_split_returns_the_rows_of_each_bag(sizes, seed):
    values, offsets = rows_of(sizes, seed=seed), offsets_of(sizes)
    parts = segments.segment_split(values, offsets)
    assert len(parts) == len(sizes)
    for part, (start, end) in zip(parts, pairwise(offsets.tolist()), strict=True):
        assert torch.equal(part, values[start:end])
