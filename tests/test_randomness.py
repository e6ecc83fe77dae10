"""Counter-based randomness: a draw depends on its place only."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bagwise.randomness import LIMIT, Purpose, bits, fresh_seed, generator, integer

laws = settings(max_examples=40, deadline=None, derandomize=True)
seeds = st.integers(0, LIMIT - 1)
places = st.tuples(st.integers(0, 1 << 40), st.integers(0, 1 << 40))


@laws
@given(seeds, st.sampled_from(Purpose), places)
def test_the_same_place_gives_the_same_draws(seed, purpose, place):
    np.testing.assert_array_equal(bits(seed, purpose, place, 3, (4, 5)), bits(seed, purpose, place, 3, (4, 5)))
    assert integer(seed, purpose, *place) == integer(seed, purpose, *place)
    first, again = (generator(seed, purpose, *place).random(8) for _ in range(2))
    np.testing.assert_array_equal(first, again)


@laws
@given(seeds, places, st.integers(0, 10**6), st.integers(1, 60), st.integers(1, 40), st.data())
def test_any_chunking_gives_the_same_rows(seed, place, first_row, rows, columns, data):
    whole = bits(seed, Purpose.DROPOUT, place, first_row, (rows, columns))
    cuts = sorted(data.draw(st.sets(st.integers(1, rows - 1), max_size=6))) if rows > 1 else []
    pieces = [
        bits(seed, Purpose.DROPOUT, place, first_row + start, (end - start, columns))
        for start, end in pairwise([0, *cuts, rows])
    ]
    np.testing.assert_array_equal(np.concatenate(pieces), whole)


def test_seed_purpose_and_each_part_of_the_place_matter():
    places = [(0, 0), (1, 0), (0, 1), (1, 1), (2, 0), (0, 2), (0, 0, 1), (0, 0, 2), (1, 0, 1)]
    draws = {
        (seed, purpose, place): bits(seed, purpose, place, 0, (2, 4)).tobytes()
        for seed in (0, 1, 2, LIMIT - 1)
        for purpose in Purpose
        for place in places
    }
    assert len(set(draws.values())) == len(draws)
    integers = {integer(seed, purpose, *place) for seed, purpose, place in draws}
    assert len(integers) == len(draws)


def test_rows_of_one_place_differ():
    drawn = bits(5, Purpose.DROPOUT, (0, 0), 0, (10_000, 2))
    assert len(np.unique(drawn, axis=0)) == 10_000


@pytest.mark.parametrize("columns", [1, 3, 8, 13])
def test_bits_are_uniform(columns):
    drawn = bits(5, Purpose.DROPOUT, (2, 7), 11, (200_000 // columns, columns))
    assert drawn.dtype == np.uint32
    counts = np.bincount((drawn >> 28).ravel(), minlength=16)
    expected = drawn.size / 16
    assert ((counts - expected) ** 2 / expected).sum() < 45  # 15 degrees of freedom: p below 0.0001
    share_of_ones = np.unpackbits(drawn.reshape(-1)[:100_000].copy().view(np.uint8)).mean()
    assert abs(share_of_ones - 0.5) < 0.001


def test_places_next_to_each_other_are_not_correlated():
    first, second = (bits(5, Purpose.DROPOUT, (0, step), 0, (50_000, 1)).ravel() / 2**32 for step in (0, 1))
    assert abs(np.corrcoef(first, second)[0, 1]) < 0.02


def test_integers_fit_the_seeds_of_other_libraries():
    drawn = [integer(5, Purpose.FOREIGN, step) for step in range(200)]
    assert all(0 <= number < LIMIT for number in drawn)
    assert max(drawn) > LIMIT // 2


def test_fresh_seeds_are_seeds_and_differ():
    drawn = {fresh_seed() for _ in range(20)}
    assert len(drawn) == 20
    assert all(0 <= seed < LIMIT for seed in drawn)


def test_a_part_of_the_place_that_is_left_out_is_zero():
    np.testing.assert_array_equal(
        bits(5, Purpose.DROPOUT, (3, 4), 0, (2, 4)), bits(5, Purpose.DROPOUT, (3, 4, 0), 0, (2, 4))
    )
