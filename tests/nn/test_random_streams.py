"""Tests that counter-based random numbers depend only on (seed, purpose, position)."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bagwise.nn.random_streams import SEED_LIMIT, Purpose, make_generator, make_seed, random_bits, random_integer

laws = settings(max_examples=40, deadline=None, derandomize=True)
seeds = st.integers(0, SEED_LIMIT - 1)
positions = st.tuples(st.integers(0, 1 << 40), st.integers(0, 1 << 40))


@laws
@given(seeds, st.sampled_from(Purpose), positions)
def test_random_bits_integers_and_generators_are_functions_of_the_position(seed, purpose, position):
    np.testing.assert_array_equal(
        random_bits(seed, purpose, position, 3, (4, 5)), random_bits(seed, purpose, position, 3, (4, 5))
    )
    assert random_integer(seed, purpose, *position) == random_integer(seed, purpose, *position)
    first, again = (make_generator(seed, purpose, *position).random(8) for _ in range(2))
    np.testing.assert_array_equal(first, again)


@laws
@given(seeds, positions, st.integers(0, 10**6), st.integers(1, 60), st.integers(1, 40), st.data())
def test_random_bits_of_pieces_equal_those_of_the_whole_array(seed, position, first_row, rows, columns, data):
    whole = random_bits(seed, Purpose.DROPOUT, position, first_row, (rows, columns))
    cuts = sorted(data.draw(st.sets(st.integers(1, rows - 1), max_size=6))) if rows > 1 else []
    pieces = [
        random_bits(seed, Purpose.DROPOUT, position, first_row + start, (end - start, columns))
        for start, end in pairwise([0, *cuts, rows])
    ]
    np.testing.assert_array_equal(np.concatenate(pieces), whole)


def test_random_bits_and_integers_differ_between_seeds_purposes_and_positions():
    positions = [(0, 0), (1, 0), (0, 1), (1, 1), (2, 0), (0, 2), (0, 0, 1), (0, 0, 2), (1, 0, 1)]
    samples = {
        (seed, purpose, position): random_bits(seed, purpose, position, 0, (2, 4)).tobytes()
        for seed in (0, 1, 2, SEED_LIMIT - 1)
        for purpose in Purpose
        for position in positions
    }
    assert len(set(samples.values())) == len(samples)
    integers = {random_integer(seed, purpose, *position) for seed, purpose, position in samples}
    assert len(integers) == len(samples)


def test_random_bits_differ_between_rows():
    bits = random_bits(5, Purpose.DROPOUT, (0, 0), 0, (10_000, 2))
    assert len(np.unique(bits, axis=0)) == 10_000


@pytest.mark.parametrize("columns", [1, 3, 8, 13])
def test_random_bits_are_uniform(columns):
    bits = random_bits(5, Purpose.DROPOUT, (2, 7), 11, (200_000 // columns, columns))
    assert bits.dtype == np.uint32
    counts = np.bincount((bits >> 28).ravel(), minlength=16)
    expected = bits.size / 16
    assert ((counts - expected) ** 2 / expected).sum() < 45  # 15 degrees of freedom: p below 0.0001
    share_of_ones = np.unpackbits(bits.reshape(-1)[:100_000].copy().view(np.uint8)).mean()
    assert abs(share_of_ones - 0.5) < 0.001


def test_random_bits_of_neighbouring_positions_are_not_correlated():
    first, second = (random_bits(5, Purpose.DROPOUT, (0, step), 0, (50_000, 1)).ravel() / 2**32 for step in (0, 1))
    assert abs(np.corrcoef(first, second)[0, 1]) < 0.02


def test_random_integer_is_below_the_seed_limit():
    integers = [random_integer(5, Purpose.TORCH, step) for step in range(200)]
    assert all(0 <= number < SEED_LIMIT for number in integers)
    assert max(integers) > SEED_LIMIT // 2


def test_make_seed_returns_different_seeds_below_the_limit():
    seeds = {make_seed() for _ in range(20)}
    assert len(seeds) == 20
    assert all(0 <= seed < SEED_LIMIT for seed in seeds)


def test_random_bits_treat_missing_parts_of_the_position_as_zero():
    np.testing.assert_array_equal(
        random_bits(5, Purpose.DROPOUT, (3, 4), 0, (2, 4)), random_bits(5, Purpose.DROPOUT, (3, 4, 0), 0, (2, 4))
    )
