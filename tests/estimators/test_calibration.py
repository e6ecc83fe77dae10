import numpy as np
import pytest
from scipy.special import expit

from bagwise.errors import InputError
from bagwise.estimators.calibration import check_folds, fit_slope, held_out_scores
from bagwise.likelihoods import Bernoulli, Categorical

DRAWS = np.random.default_rng(0)


@pytest.mark.parametrize("slope", [0.2, 1.0, 4.0])
def test_the_slope_that_made_the_labels_is_found(slope):
    scores = DRAWS.normal(size=(20_000, 1))
    targets = (DRAWS.random(20_000) < expit(slope * scores[:, 0])).astype(int)
    assert fit_slope(Bernoulli(), scores, targets) == pytest.approx(slope, rel=0.1)


def test_several_classes_share_a_slope():
    scores = DRAWS.normal(size=(20_000, 3))
    chances = np.exp(2 * scores) / np.exp(2 * scores).sum(axis=1, keepdims=True)
    targets = (DRAWS.random((20_000, 1)) > chances.cumsum(axis=1)).sum(axis=1)
    assert fit_slope(Categorical(3), scores, targets) == pytest.approx(2, rel=0.1)


def test_bags_that_all_came_out_right_do_not_make_the_next_one_certain():
    for n_bags in (10, 1000):
        targets = np.arange(n_bags) % 2
        slope = fit_slope(Bernoulli(), 2.0 * targets[:, None] - 1, targets)
        assert expit(slope) == pytest.approx((n_bags + 1) / (n_bags + 2), abs=1e-4)


def test_scores_are_of_bags_that_were_held_out():
    targets = np.array([0, 1] * 6)
    seen = []

    def score(kept, held):
        assert not set(kept) & set(held)
        seen.extend(held)
        return held[:, None].astype(float)

    rows, scores = held_out_scores(score, targets, None, 3, seed=1)
    assert sorted(seen) == list(range(12))
    np.testing.assert_array_equal(scores[:, 0], rows)


def test_a_class_too_rare_to_hold_out_gives_no_scores():
    rows, _ = held_out_scores(lambda kept, held: np.zeros((len(held), 1)), np.array([0, 0, 0, 1]), None, 3, seed=1)
    assert len(rows) == 0


def test_groups_too_few_for_the_folds_give_fewer_folds_or_none():
    targets, groups = np.array([0, 1] * 4), np.array(list("aaaabbbb"))
    rows, _ = held_out_scores(lambda kept, held: np.zeros((len(held), 1)), targets, groups, 3, seed=1)
    assert sorted(rows) == list(range(8))
    rows, _ = held_out_scores(lambda kept, held: np.zeros((len(held), 1)), targets, np.full(8, "a"), 3, seed=1)
    assert len(rows) == 0


@pytest.mark.parametrize("folds", [1, -2, 2.5, "three", True, None])
def test_what_is_no_number_of_folds_is_refused(folds):
    with pytest.raises(InputError, match="calibration is"):
        check_folds(folds)
