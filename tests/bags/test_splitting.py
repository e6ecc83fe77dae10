"""Hold-out sets and folds are stratified by class, and the bags of a group are never separated."""

import numpy as np
import pytest

from bagwise.bags.splitting import hold_out, make_stratified_folds
from bagwise.errors import InputError
from unchecked import unchecked

TARGETS = np.array([0, 1] * 30)
UNEVEN_TARGETS = np.array([0, 1, 1] * 20)


def test_hold_out_keeps_class_shares_and_every_bag():
    kept, held_out = hold_out(TARGETS, None, 0.2, seed=3)
    assert sorted([*kept, *held_out]) == list(range(60))
    assert TARGETS[held_out].mean() == 0.5
    assert len(held_out) == 12


def test_hold_out_never_separates_a_group():
    groups = np.repeat(np.arange(15), 4)
    for seed in range(20):
        kept, held_out = hold_out(TARGETS, groups, 0.2, seed)
        assert not set(groups[kept]) & set(groups[held_out])


def test_hold_out_of_groups_of_one_class_keeps_both_classes():
    groups = np.arange(60) // 2 * 2 + TARGETS
    for seed in range(20):
        kept, held_out = hold_out(TARGETS, groups, 0.2, seed)
        assert 0.3 < TARGETS[held_out].mean() < 0.7
        assert 8 <= len(held_out) <= 16
        assert not set(groups[kept]) & set(groups[held_out])
    assert len(hold_out(TARGETS, groups, 0.8, 0)[1]) > 40


def test_hold_out_depends_on_the_seed_only():
    assert (hold_out(TARGETS, None, 0.2, 1)[1] == hold_out(TARGETS, None, 0.2, 1)[1]).all()
    assert (hold_out(TARGETS, None, 0.2, 1)[1] != hold_out(TARGETS, None, 0.2, 2)[1]).any()


@pytest.mark.parametrize("share", [0.05, 0.1, 0.2, 0.25, 0.3, 1 / 3, 0.4, 0.5, 0.6, 0.7, 0.9])
def test_hold_out_of_equal_groups_has_the_requested_share(share):
    groups = np.repeat(np.arange(60), 10)
    targets = np.tile([0, 1], 300)
    _, held_out = hold_out(targets, groups, share, seed=3)
    assert len(held_out) / 600 == pytest.approx(share, abs=0.01)
    assert targets[held_out].mean() == 0.5


@pytest.mark.parametrize("n_groups", [2, 3, 4, 7])
def test_hold_out_of_few_groups_is_within_one_group_of_the_share(n_groups):
    groups, targets = np.repeat(np.arange(n_groups), 6), np.tile([0, 1], 3 * n_groups)
    for share in (0.2, 0.4, 0.6):
        _, held_out = hold_out(targets, groups, share, seed=3)
        assert abs(len(held_out) / len(groups) - share) < 1 / n_groups


@pytest.mark.parametrize("share", [0.0, 1.0, -0.2, 1.5])
def test_hold_out_rejects_shares_outside_0_and_1(share):
    with pytest.raises(InputError, match=r"the share to hold out is .*; it must be a number above 0 and below 1"):
        hold_out(TARGETS, None, share, 0)


@pytest.mark.parametrize("share", ["0.2", None, float("nan"), True])
def test_hold_out_rejects_a_share_that_is_not_a_number(share):
    with unchecked(), pytest.raises(InputError, match=r"the share to hold out is .*; it must be a number above 0"):
        hold_out(TARGETS, None, share, 0)


def test_hold_out_names_a_class_with_only_one_bag():
    with pytest.raises(InputError, match="class 7 has only one bag, but both parts need one; add bags"):
        hold_out(np.array([0, 0, 0, 7]), None, 0.5, 0)
    with pytest.raises(InputError, match="class 0 has only one bag"):
        hold_out(np.array([0, 1]), np.array(["a", "b"]), 0.5, 0)


@pytest.mark.parametrize(("share", "count"), [(0.1, 1), (0.9, 8)])
def test_hold_out_rejects_a_part_too_small_for_every_class(share, count):
    with pytest.raises(
        InputError, match=f"share of {share} holds out {count} of 8 bags, .* each of the 3 classes; choose"
    ):
        hold_out(np.array([0, 0, 0, 0, 1, 1, 2, 2]), None, share, 0)


def test_hold_out_rejects_a_single_group():
    with pytest.raises(
        InputError, match="all 60 bags belong to one group, 'p', and a group is never split; give smaller"
    ):
        hold_out(TARGETS, np.array(["p"] * 60), 0.2, 0)


def test_hold_out_names_a_class_that_would_be_held_out_completely():
    with pytest.raises(InputError, match=r"keeps no bag of class [01], whose 2 bags belong to 1 group; add"):
        hold_out(np.array([0, 0, 1, 1]), np.array(["a", "a", "b", "b"]), 0.5, 0)


def test_make_stratified_folds_holds_out_every_bag_once_with_even_classes():
    folds = list(make_stratified_folds(UNEVEN_TARGETS, None, 5, seed=3))
    assert sorted(np.concatenate([held_out for _, held_out in folds])) == list(range(60))
    for kept, held_out in folds:
        assert set(kept) | set(held_out) == set(range(60))
        assert UNEVEN_TARGETS[held_out].sum() == 8


def test_make_stratified_folds_never_separates_a_group():
    groups = np.repeat(np.arange(20), 3)
    for kept, held_out in make_stratified_folds(UNEVEN_TARGETS, groups, 5, seed=3):
        assert not set(groups[kept]) & set(groups[held_out])


def test_make_stratified_folds_depends_on_the_seed_only():
    first, repeated, other = (
        [held_out.tolist() for _, held_out in make_stratified_folds(UNEVEN_TARGETS, None, 5, seed=seed)]
        for seed in (1 << 62, 1 << 62, 7)
    )
    assert first == repeated != other


def test_make_stratified_folds_rejects_fewer_groups_than_folds():
    with pytest.raises(InputError, match="3 groups, too few for 5 folds"):
        list(make_stratified_folds(UNEVEN_TARGETS, np.arange(60) % 3, 5, seed=0))
