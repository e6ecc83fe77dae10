"""Reductions within bags: each equals a plain loop over bags, with its derivatives, at any size of scores and bags."""

import math
from itertools import pairwise

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from bagwise import segments

LAYOUTS = [[1], [4], [1, 1], [3, 1, 2]]
REDUCTIONS = {
    "sum": (segments.sum, math.fsum),
    "mean": (segments.mean, lambda column: math.fsum(column) / len(column)),
    "max": (segments.max, max),
    "log_sum_exp": (segments.log_sum_exp, lambda column: math.log(math.fsum(map(math.exp, column)))),
}
layouts = pytest.mark.parametrize("sizes", LAYOUTS, ids=str)
random_layouts = st.lists(st.integers(1, 9), min_size=1, max_size=12)
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
@given(random_layouts, st.integers(0, 1000))
def test_sizes_undo_the_offsets(sizes, seed):
    assert segments.sizes(offsets_of(sizes)).tolist() == sizes


@pytest.mark.parametrize("name", REDUCTIONS)
@laws
@given(sizes=random_layouts, seed=st.integers(0, 1000))
def test_each_reduction_is_the_loop_over_bags(name, sizes, seed):
    reduction, reduce = REDUCTIONS[name]
    values, offsets = rows_of(sizes, seed=seed), offsets_of(sizes)
    assert_exact(reduction(values, offsets), per_bag_loop(reduce, values, offsets))


@laws
@given(random_layouts, st.integers(0, 1000))
def test_softmax_is_the_loop_over_bags(sizes, seed):
    values, offsets = rows_of(sizes, seed=seed), offsets_of(sizes)
    assert_exact(segments.softmax(values, offsets), per_row_loop(softmax_of, values, offsets))


@laws
@given(random_layouts, st.integers(0, 1000))
def test_winners_is_the_loop_over_bags_with_ties_split(sizes, seed):
    values, offsets = rows_of(sizes, seed=seed).round(), offsets_of(sizes)
    assert_exact(segments.winners(values, offsets), per_row_loop(shares_of, values, offsets))


@laws
@given(random_layouts, st.integers(0, 1000))
def test_spread_gives_every_row_its_bag(sizes, seed):
    per_bag = rows_of([len(sizes)], seed=seed)
    expected = torch.stack([per_bag[bag] for bag, size in enumerate(sizes) for _ in range(size)])
    assert_exact(segments.spread(per_bag, offsets_of(sizes)), expected)


@pytest.mark.parametrize("heads", [1, 3])
@laws
@given(sizes=random_layouts, seed=st.integers(0, 1000))
def test_weighted_sum_is_the_loop_over_bags_with_heads_side_by_side(heads, sizes, seed):
    values, offsets = rows_of(sizes, 2, seed=seed), offsets_of(sizes)
    weights = rows_of(sizes, heads, seed=seed + 1)
    assert_exact(segments.weighted_sum(values, weights, offsets), weighted_loop(values, weights, offsets))


@laws
@given(random_layouts.filter(lambda sizes: len(sizes) > 1), st.data())
def test_a_bag_alone_equals_the_same_bag_in_a_pack(sizes, data):
    bag = data.draw(st.integers(0, len(sizes) - 1))
    values, offsets = rows_of(sizes), offsets_of(sizes)
    own = slice(int(offsets[bag]), int(offsets[bag + 1]))
    alone = offsets_of([sizes[bag]])
    for reduction, _ in REDUCTIONS.values():
        assert_exact(reduction(values[own], alone), reduction(values, offsets)[[bag]])
    for transform in (segments.softmax, segments.winners):
        assert_exact(transform(values[own], alone), transform(values, offsets)[own])
    packed = segments.weighted_sum(values, values, offsets)
    assert_exact(segments.weighted_sum(values[own], values[own], alone), packed[[bag]])


@layouts
@pytest.mark.parametrize("reduction", [*(pair[0] for pair in REDUCTIONS.values()), segments.softmax])
def test_first_and_second_derivatives_agree_with_finite_differences(reduction, sizes):
    values, offsets = rows_of(sizes, 2).requires_grad_(), offsets_of(sizes)
    assert torch.autograd.gradcheck(lambda rows: reduction(rows, offsets), values)
    assert torch.autograd.gradgradcheck(lambda rows: reduction(rows, offsets), values)


@layouts
def test_derivatives_of_spread_agree_with_finite_differences(sizes):
    per_bag, offsets = rows_of([len(sizes)], 2).requires_grad_(), offsets_of(sizes)
    assert torch.autograd.gradcheck(lambda rows: segments.spread(rows, offsets), per_bag)
    assert torch.autograd.gradgradcheck(lambda rows: segments.spread(rows, offsets), per_bag)


@layouts
@pytest.mark.parametrize("heads", [1, 3])
def test_derivatives_of_weighted_sum_agree_with_finite_differences(sizes, heads):
    values, offsets = rows_of(sizes, 2).requires_grad_(), offsets_of(sizes)
    weights = rows_of(sizes, heads, seed=1).requires_grad_()
    pooled = lambda values, weights: segments.weighted_sum(values, weights, offsets)  # noqa: E731
    assert torch.autograd.gradcheck(pooled, (values, weights))
    assert torch.autograd.gradgradcheck(pooled, (values, weights))


@pytest.mark.parametrize("neighbours", [[], [2], [1, 4]], ids=str)
def test_ties_of_max_split_the_gradient_evenly_alone_and_in_a_pack(neighbours):
    bag = torch.tensor([[1.0, 0.0], [3.0, 0.0], [3.0, 0.0], [3.0, -1.0]])
    values = torch.cat([bag, torch.randn(sum(neighbours), 2)]).requires_grad_()
    segments.max(values, offsets_of([4, *neighbours]))[0].sum().backward()
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
def test_extreme_scores_reach_the_right_limit_in_float32(name, neighbours):
    scores, limit = EXTREMES[name]
    own = len(scores)
    values = torch.cat([torch.tensor(scores), torch.ones(sum(neighbours))])[:, None].requires_grad_()
    offsets = offsets_of([own, *neighbours])
    weights, smooth_max = segments.softmax(values, offsets), segments.log_sum_exp(values, offsets)
    torch.testing.assert_close(weights[:own, 0], torch.tensor(limit), rtol=0, atol=1e-7)
    ties = math.log(scores.count(max(scores)) if abs(max(scores)) > 1e-20 else own)
    torch.testing.assert_close(smooth_max[0, 0], torch.tensor(max(scores) + ties))
    (gradient,) = torch.autograd.grad(smooth_max[0, 0], values, retain_graph=True)
    torch.testing.assert_close(gradient[:own, 0], torch.tensor(limit), rtol=0, atol=1e-7)
    (gradient,) = torch.autograd.grad(weights[0, 0], values)
    assert gradient.isfinite().all()


@pytest.mark.parametrize("sizes", [[1_000_000], [1_000_000, 1], [3, 1_000_000, 2]], ids=str)
@pytest.mark.parametrize("scale", [0.0, 5.0])
def test_softmax_over_a_million_rows_sums_to_one_in_float32(sizes, scale):
    scores = (rows_of(sizes, 1) * scale).float()
    weights = segments.softmax(scores, offsets_of(sizes)).double()
    totals = segments.sum(weights, offsets_of(sizes))
    torch.testing.assert_close(totals, torch.ones_like(totals), rtol=0, atol=1e-5)


@pytest.mark.parametrize("sizes", [[1_000_000], [1_000_000, 1]], ids=str)
def test_sum_mean_and_log_sum_exp_over_a_million_rows_stay_exact_in_float32(sizes):
    values = rows_of(sizes, 1).exp()
    for reduction in (segments.sum, segments.mean, segments.log_sum_exp):
        expected = reduction(values, offsets_of(sizes))
        torch.testing.assert_close(reduction(values.float(), offsets_of(sizes)).double(), expected, rtol=1e-5, atol=0)


def test_ten_thousand_bags_of_five_are_the_dense_reductions():
    sizes = [5] * 10_000
    values, offsets = rows_of(sizes, 2), offsets_of(sizes)
    dense = values.reshape(10_000, 5, 2)
    assert_exact(segments.sum(values, offsets), dense.sum(1))
    assert_exact(segments.mean(values, offsets), dense.mean(1))
    assert_exact(segments.max(values, offsets), dense.amax(1))
    assert_exact(segments.log_sum_exp(values, offsets), dense.logsumexp(1))
    assert_exact(segments.softmax(values, offsets), dense.softmax(1).reshape(-1, 2))


def test_rows_without_columns_add_up_with_any_number_of_threads():
    before = torch.get_num_threads()
    try:
        for threads in (1, 2):
            torch.set_num_threads(threads)
            values = torch.zeros(400, 0, requires_grad=True)
            assert segments.sum(values, torch.tensor([0, 100, 400])).shape == (2, 0)
    finally:
        torch.set_num_threads(before)
