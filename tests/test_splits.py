import numpy as np
import pytest

from bagwise.errors import InputError
from bagwise.splits import hold_out
from unchecked import unchecked

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


@pytest.mark.parametrize("share", [0.05, 0.1, 0.2, 0.25, 0.3, 1 / 3, 0.4, 0.5, 0.6, 0.7, 0.9])
def test_even_groups_are_held_out_in_the_share_asked_for(share):
    groups = np.repeat(np.arange(60), 10)
    targets = np.tile([0, 1], 300)
    _, held = hold_out(targets, groups, share, seed=3)
    assert len(held) / 600 == pytest.approx(share, abs=0.01)
    assert targets[held].mean() == 0.5


@pytest.mark.parametrize("n_groups", [2, 3, 4, 7])
def test_few_groups_come_within_one_group_of_the_share(n_groups):
    groups, targets = np.repeat(np.arange(n_groups), 6), np.tile([0, 1], 3 * n_groups)
    for share in (0.2, 0.4, 0.6):
        _, held = hold_out(targets, groups, share, seed=3)
        assert abs(len(held) / len(groups) - share) < 1 / n_groups


@pytest.mark.parametrize("share", [0.0, 1.0, -0.2, 1.5])
def test_shares_that_leave_a_side_empty_are_refused(share):
    with pytest.raises(InputError, match=r"the share to hold out is .*; it must lie between 0 and 1"):
        hold_out(TARGETS, None, share, 0)


@pytest.mark.parametrize("share", ["0.2", None, float("nan"), True])
def test_a_share_that_is_no_number_is_refused(share):
    with unchecked(), pytest.raises(InputError, match=r"the share to hold out is .*; it must be a finite number"):
        hold_out(TARGETS, None, share, 0)


def test_a_class_with_a_single_bag_is_named():
    with pytest.raises(InputError, match=r"class 7 has a single bag, which cannot lie on both sides .*; add bags"):
        hold_out(np.array([0, 0, 0, 7]), None, 0.5, 0)
    with pytest.raises(InputError, match="class 0 has a single bag"):
        hold_out(np.array([0, 1]), np.array(["a", "b"]), 0.5, 0)


@pytest.mark.parametrize(("share", "count"), [(0.1, 1), (0.9, 8)])
def test_a_side_too_small_for_every_class_is_refused_with_the_numbers(share, count):
    with pytest.raises(InputError, match=f"{share} of 8 bags are {count}: not enough .* of the 3 classes; choose"):
        hold_out(np.array([0, 0, 0, 0, 1, 1, 2, 2]), None, share, 0)


def test_one_group_is_never_split():
    with pytest.raises(InputError, match="all 60 bags belong to one group, 'p', and a group is never split; give"):
        hold_out(TARGETS, np.array(["p"] * 60), 0.2, 0)


def test_a_class_that_lies_in_the_groups_held_out_is_named():
    with pytest.raises(InputError, match=r"no bag of class [01] behind, whose 2 bags lie in 1 of the groups; add"):
        hold_out(np.array([0, 0, 1, 1]), np.array(["a", "a", "b", "b"]), 0.5, 0)
