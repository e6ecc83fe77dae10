import numpy as np
import pytest

from bagwise.errors import InputError
from bagwise.splits import hold_out

TARGETS = np.array([0, 1] * 30)


def test_classes_keep_their_shares_and_nothing_is_lost():
    kept, held = hold_out(TARGETS, None, 0.2, seed=3)
    assert sorted([*kept, *held]) == list(range(60))
    assert TARGETS[held].mean() == 0.5
    assert len(held) == 12


def test_a_group_is_never_on_both_sides():
    groups = np.repeat(np.arange(15), 4)
    for seed in range(20):
        kept, held = hold_out(TARGETS, groups, 0.2, seed)
        assert not set(groups[kept]) & set(groups[held])


def test_held_out_groups_keep_both_classes_where_they_can():
    """Each group is of one class, as patients often are."""
    groups = np.arange(60) // 2 * 2 + TARGETS
    for seed in range(20):
        kept, held = hold_out(TARGETS, groups, 0.2, seed)
        assert 0.3 < TARGETS[held].mean() < 0.7
        assert 8 <= len(held) <= 16
        assert not set(groups[kept]) & set(groups[held])
    assert len(hold_out(TARGETS, groups, 0.8, 0)[1]) > 40


def test_the_same_seed_holds_out_the_same_bags():
    assert (hold_out(TARGETS, None, 0.2, 1)[1] == hold_out(TARGETS, None, 0.2, 1)[1]).all()
    assert (hold_out(TARGETS, None, 0.2, 1)[1] != hold_out(TARGETS, None, 0.2, 2)[1]).any()


def test_impossible_shares_are_refused():
    with pytest.raises(InputError, match="between 0 and 1"):
        hold_out(TARGETS, None, 1.0, 0)
    with pytest.raises(InputError, match="cannot hold out"):
        hold_out(np.array([0, 0, 0, 1]), None, 0.5, 0)
    with pytest.raises(InputError, match="without training bags"):
        hold_out(np.array([0, 0, 1, 1]), np.array(["a", "a", "b", "b"]), 0.5, 0)
