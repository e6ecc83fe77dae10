import json

import numpy as np
import pytest
from scipy.special import expit, softmax

from bagwise.errors import InputError
from bagwise.estimators.calibration import (
    Calibration,
    HeldOutLoss,
    HeldOutScores,
    MajorityWarning,
    calibrate_held_out,
    compute_class_shares,
    compute_held_out_loss,
    compute_held_out_scores,
    fit_calibration,
    make_identity,
    restore_calibration,
    warn_if_majority_wins,
)
from bagwise.targets.class_likelihoods import make_likelihood


def score_zero(training, held_out):
    return np.zeros((len(held_out), 1))


def simulate(n_classes, n_bags, informative=True):
    """Scores of bags of unequal classes: one score for two classes, else one per class."""
    generator = np.random.default_rng(n_classes)
    targets = np.arange(n_bags) % (n_classes + 1) % n_classes  # class 0 is twice as frequent
    means = np.eye(n_classes)[targets][:, 1:] if n_classes == 2 else np.eye(n_classes)[targets]
    return means * informative + generator.normal(size=means.shape), targets


def calibrate(scores, targets):
    """The calibrated probabilities of the scores to which the calibration is fitted, and the class shares."""
    shares = np.bincount(targets) / len(targets)
    found = fit_calibration(make_likelihood(len(shares)), scores, targets, shares, np.ones(len(targets)))
    log_odds = found.apply(scores)
    if len(shares) == 2:
        log_odds = np.hstack([np.zeros_like(log_odds), log_odds])
    return softmax(log_odds, axis=1), shares


n_classes = pytest.mark.parametrize("n_classes", [2, 3, 5])


def test_compute_held_out_scores_scores_every_bag_once_and_never_in_training():
    targets = np.array([0, 1] * 6)
    scored = []

    def score(training, held_out):
        assert not set(training) & set(held_out)
        scored.extend(held_out)
        return held_out[:, None].astype(float)

    rows, scores, folds = compute_held_out_scores(score, targets, None, 3, seed=1)
    assert sorted(scored) == list(range(12))
    np.testing.assert_array_equal(scores[:, 0], rows)
    assert np.bincount(folds).tolist() == [4, 4, 4]


def test_compute_held_out_scores_returns_empty_arrays_if_a_class_is_too_rare():
    rows, _, _ = compute_held_out_scores(score_zero, np.array([0, 0, 0, 1]), None, 3, seed=1)
    assert len(rows) == 0


def test_compute_held_out_scores_uses_fewer_or_no_folds_if_there_are_few_groups():
    targets, groups = np.array([0, 1] * 4), np.array(list("aaaabbbb"))
    rows, _, _ = compute_held_out_scores(score_zero, targets, groups, 3, seed=1)
    assert sorted(rows) == list(range(8))
    rows, _, _ = compute_held_out_scores(score_zero, targets, np.full(8, "a"), 3, seed=1)
    assert len(rows) == 0


@n_classes
@pytest.mark.parametrize(("factor", "shift"), [(1.0, 30.0), (1e-3, 0.0), (500.0, -2000.0)])
def test_fit_calibration_does_not_depend_on_the_origin_and_unit_of_the_scores(n_classes, factor, shift):
    scores, targets = simulate(n_classes, 60)
    expected, _ = calibrate(scores, targets)
    np.testing.assert_allclose(calibrate(factor * scores + shift, targets)[0], expected, atol=1e-6)
    own_shifts = shift * np.arange(scores.shape[1])
    np.testing.assert_allclose(calibrate(factor * scores + own_shifts, targets)[0], expected, atol=1e-6)


@n_classes
def test_fit_calibration_gives_the_class_shares_if_the_scores_are_constant(n_classes):
    scores, targets = simulate(n_classes, 60)
    probabilities, shares = calibrate(np.full_like(scores, 0.1), targets)
    np.testing.assert_allclose(probabilities, np.tile(shares, (60, 1)), rtol=1e-12)


@n_classes
def test_fit_calibration_gives_the_class_shares_if_scores_and_classes_are_independent(n_classes):
    """Every score occurs in each class as often as the class shares demand."""
    values, _ = simulate(n_classes, 7)
    counts = np.arange(n_classes) + 1
    targets = np.tile(np.repeat(np.arange(n_classes), counts), len(values))
    probabilities, shares = calibrate(values.repeat(counts.sum(), axis=0), targets)
    np.testing.assert_allclose(probabilities, np.tile(shares, (len(targets), 1)), atol=1e-5)


def test_fit_calibration_gives_the_class_shares_if_scores_rank_bags_worse_than_chance():
    scores, targets = simulate(2, 90)
    probabilities, shares = calibrate(-scores, targets)
    np.testing.assert_allclose(probabilities, np.tile(shares, (90, 1)), atol=1e-5)
    assert (probabilities.argmax(axis=1) == shares.argmax()).all()


@n_classes
@pytest.mark.parametrize("n_bags", [24, 1200])
def test_fit_calibration_gives_uncertain_probabilities_if_all_bags_are_predicted_correctly(n_classes, n_bags):
    _, targets = simulate(n_classes, n_bags)
    scores = 50 * np.eye(n_classes)[targets]
    probabilities, shares = calibrate(scores[:, 1:] if n_classes == 2 else scores, targets)
    assert (probabilities.argmax(axis=1) == targets).all()
    assert probabilities.min() > 0.1 / (n_bags + 2)
    if n_classes == 2:
        expected = (n_bags * np.eye(2)[targets] + 2 * shares) / (n_bags + 2)
        np.testing.assert_allclose(probabilities, expected, atol=1e-6)


@pytest.mark.parametrize(("slope", "offset"), [(0.3, 1.0), (1.0, -2.0), (4.0, 0.5)])
def test_fit_calibration_recovers_slope_and_offset_of_simulated_labels(slope, offset):
    generator = np.random.default_rng(0)
    scores = generator.normal(size=(40_000, 1))
    targets = (generator.random(40_000) < expit(slope * scores[:, 0] + offset)).astype(int)
    weights = np.ones(len(targets))
    found = fit_calibration(make_likelihood(2), scores, targets, compute_class_shares(targets, weights), weights)
    assert found.slope == pytest.approx(slope, rel=0.1)
    assert found.offset[0] == pytest.approx(offset, abs=0.1)


@n_classes
def test_fit_calibration_ignores_bags_of_weight_zero(n_classes):
    """Bags of weight zero only change the scores that are standardised, so the optimum is the same."""
    scores, targets = simulate(n_classes, 60)
    weights = np.arange(60) % 3 + 1.0
    weights[40:] = 0
    shares, likelihood = compute_class_shares(targets, weights), make_likelihood(n_classes)
    expected = fit_calibration(likelihood, scores[:40], targets[:40], shares, weights[:40])
    changed = np.where(np.arange(60) < 40, targets, 0)
    for found in (fit_calibration(likelihood, scores, each, shares, weights) for each in (targets, changed)):
        np.testing.assert_allclose(found.slope, expected.slope, rtol=1e-4)
        differences = (found.apply(scores) - expected.apply(scores)).std(axis=1 if n_classes > 2 else None)
        np.testing.assert_allclose(differences, 0, atol=1e-4)  # a common offset of more classes does not matter


def test_fit_calibration_follows_the_class_weights():
    """Uninformative scores give the weighted class shares."""
    targets, weights = np.array([0] * 30 + [1] * 10), np.array([1.0] * 30 + [3.0] * 10)
    shares = compute_class_shares(targets, weights)
    found = fit_calibration(make_likelihood(2), np.zeros((40, 1)), targets, shares, weights)
    np.testing.assert_allclose(expit(found.offset), 0.5)


def test_fit_calibration_and_compute_held_out_loss_without_weights_change_and_measure_nothing():
    scores, targets = simulate(2, 20)
    nothing, shares = np.zeros(20), np.array([0.5, 0.5])
    assert fit_calibration(make_likelihood(2), scores, targets, shares, nothing) == make_identity(1)
    held_out = HeldOutScores(np.arange(20), scores, np.arange(20) % 5)
    likelihood = make_likelihood(2)
    calibrated = calibrate_held_out(likelihood, held_out, targets, shares, nothing)
    np.testing.assert_array_equal(calibrated, scores)
    assert compute_held_out_loss(likelihood, calibrated, targets, shares, nothing) is None


def test_fit_calibration_keeps_the_ranking():
    scores, targets = simulate(2, 60)
    for signed in (scores, -scores):
        probabilities, _ = calibrate(signed, targets)
        np.testing.assert_array_equal(np.argsort(probabilities[:, 1]), np.argsort(signed[:, 0]))


@n_classes
@pytest.mark.parametrize("informative", [True, False])
def test_compute_held_out_loss_shows_whether_the_scores_beat_the_majority(n_classes, informative):
    scores, targets = simulate(n_classes, 600, informative)
    held_out = HeldOutScores(np.arange(600), scores if informative else np.ones_like(scores), np.arange(600) // 200)
    shares = np.bincount(targets) / 600
    known = targets, shares, np.ones(len(targets))
    calibrated = calibrate_held_out(make_likelihood(n_classes), held_out, *known)
    loss = compute_held_out_loss(make_likelihood(n_classes), calibrated, *known)
    assert loss.beats_majority == informative
    assert loss.majority == pytest.approx(-(shares * np.log(shares)).sum())


def test_calibrate_held_out_does_not_use_the_targets_of_the_fold():
    scores, targets = simulate(2, 60)
    held_out = HeldOutScores(np.arange(60), scores, np.arange(60) % 3)
    shares, weights = np.array([0.5, 0.5]), np.ones(60)
    inside = held_out.folds == 1
    flipped = np.where(inside, 1 - targets, targets)
    before, after = (
        calibrate_held_out(make_likelihood(2), held_out, known, shares, weights) for known in (targets, flipped)
    )
    np.testing.assert_array_equal(before[inside], after[inside])
    assert not np.allclose(before[~inside], after[~inside])


def test_warn_if_majority_wins_names_the_method_and_both_losses():
    with pytest.warns(MajorityWarning, match=r"MISVM does not beat the majority .*: log loss 0\.700, majority 0\.650"):
        warn_if_majority_wins("MISVM", HeldOutLoss(0.7, 0.65), stacklevel=1)
    with pytest.warns(MajorityWarning, match=r"log loss 0\.700 for both"):
        warn_if_majority_wins("MISVM", HeldOutLoss(0.70001, 0.7), stacklevel=1)


def test_make_identity_leaves_scores_unchanged():
    scores = np.random.default_rng(0).normal(size=(5, 3))
    np.testing.assert_array_equal(make_identity(3).apply(scores), scores)


def test_restore_calibration_inverts_saving():
    restored = restore_calibration(json.loads(json.dumps(Calibration(2.0, np.array([0.5, -1.0])).to_json())), 2)
    assert restored.slope == 2.0
    np.testing.assert_array_equal(restored.offset, [0.5, -1.0])


@pytest.mark.parametrize("name", ["slope", "offset"])
@pytest.mark.parametrize("value", [None, "0.5", float("nan"), [1.0]])
def test_restore_calibration_rejects_invalid_values_by_name(name, value):
    content = {"slope": 2.0, "offset": [0.5], name: [value] if name == "offset" else value}
    with pytest.raises(InputError, match=f"{name} is"):
        restore_calibration(content, 1)


def test_restore_calibration_rejects_another_number_of_offsets():
    with pytest.raises(InputError, match="2 offsets for 1 scores"):
        restore_calibration({"slope": 1.0, "offset": [0.0, 0.0]}, 1)
