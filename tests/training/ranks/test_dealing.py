import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bagwise.training.ranks import deal

SIZES = st.lists(st.integers(1, 10_000), min_size=1, max_size=60).map(np.array)


@given(SIZES, st.integers(1, 9))
def test_no_bag_is_dropped_and_none_is_dealt_twice(sizes, n_hands):
    hands = deal(sizes, n_hands)
    assert len(hands) == n_hands
    assert sorted(np.concatenate(hands).tolist()) == list(range(len(sizes)))


@given(SIZES, st.integers(1, 9))
def test_no_hand_holds_more_than_another_by_more_than_a_bag(sizes, n_hands):
    rows = [int(sizes[hand].sum()) for hand in deal(sizes, n_hands)]
    assert max(rows) - min(rows) <= sizes.max()


@pytest.mark.parametrize("n_hands", [2, 3])
def test_one_huge_bag_leaves_the_others_to_the_other_hands(n_hands):
    hands = deal(np.array([1, 1000, 1, 1, 1]), n_hands)
    assert hands[0].tolist() == [1]


def test_fewer_bags_than_hands_leave_hands_empty():
    assert [hand.tolist() for hand in deal(np.array([3]), 3)] == [[0], [], []]
