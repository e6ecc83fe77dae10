import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import expit

from bagwise.errors import InputError
from bagwise.estimators.calibration import (
    Adjustment,
    check_adjustment,
    fit_slope,
    learn_adjustment,
    restore_adjustment,
)
from bagwise.targets.class_likelihoods import Bernoulli, Categorical
from bagwise.targets.classes import ClassTarget

TWO_CLASSES = ClassTarget.unnamed(2)
GENERATOR = np.random.default_rng(0)
TARGETS = np.array([0, 0, 0, 0, 1, 1, 1, 1, 1, 0])
POSITIVE = np.array([0.01, 0.1, 0.35, 0.04, 0.3, 0.45, 0.6, 0.99, 0.41, 0.97])
PROBABILITIES = np.stack([1 - POSITIVE, POSITIVE], axis=1)


@pytest.mark.parametrize("slope", [0.2, 1.0, 4.0])
def test_fit_slope_recovers_the_slope_of_simulated_labels(slope):
    scores = GENERATOR.normal(size=(20_000, 1))
    targets = (GENERATOR.random(20_000) < expit(slope * scores[:, 0])).astype(int)
    assert fit_slope(Bernoulli(), scores, targets) == pytest.approx(slope, rel=0.1)


def test_fit_slope_fits_one_slope_for_several_classes():
    scores = GENERATOR.normal(size=(20_000, 3))
    probabilities = np.exp(2 * scores) / np.exp(2 * scores).sum(axis=1, keepdims=True)
    targets = (GENERATOR.random((20_000, 1)) > probabilities.cumsum(axis=1)).sum(axis=1)
    assert fit_slope(Categorical(3), scores, targets) == pytest.approx(2, rel=0.1)


@pytest.mark.parametrize("n_bags", [10, 1000])
def test_fit_slope_gives_uncertain_probabilities_if_all_bags_are_predicted_correctly(n_bags):
    targets = np.arange(n_bags) % 2
    slope = fit_slope(Bernoulli(), 2.0 * targets[:, None] - 1, targets)
    assert expit(slope) == pytest.approx((n_bags + 1) / (n_bags + 2), abs=1e-4)


@pytest.mark.parametrize("temperature", [0.5, 2.0, 3.0])
def test_apply_raises_probabilities_to_the_power_of_one_over_the_temperature(temperature):
    three = np.array([[0.7, 0.2, 0.1], [0.05, 0.15, 0.8]])
    for probabilities in (PROBABILITIES, three):
        powers = probabilities ** (1 / temperature)
        expected = powers / powers.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(Adjustment(temperature).apply(probabilities), expected, rtol=1e-10)


def test_apply_moves_probabilities_towards_one_half_at_a_temperature_above_one():
    softened = Adjustment(temperature=2.0).apply(PROBABILITIES)
    assert (np.abs(softened - 0.5) < np.abs(PROBABILITIES - 0.5)).all()
    sharpened = Adjustment(temperature=0.5).apply(PROBABILITIES)
    assert (np.abs(sharpened - 0.5) > np.abs(PROBABILITIES - 0.5)).all()


def test_apply_returns_the_probabilities_unchanged_by_default():
    assert Adjustment().apply(PROBABILITIES) is PROBABILITIES


def test_learn_adjustment_finds_the_temperature_of_maximum_likelihood():
    found = learn_adjustment(TWO_CLASSES, PROBABILITIES, TARGETS, temperature=True, threshold=False)
    assert found.threshold == 0.5

    def compute_loss(temperature):
        powers = PROBABILITIES ** (1 / temperature)
        probabilities = powers / powers.sum(axis=1, keepdims=True)
        smoothed = np.where(np.arange(2) == TARGETS[:, None], 11 / 12, 1 / 12)  # (n + 1) / (n + 2) for n = 10
        return -(smoothed * np.log(probabilities)).sum(axis=1).mean()

    best = minimize_scalar(compute_loss, bounds=(0.1, 20), method="bounded", options={"xatol": 1e-8})
    assert found.temperature == pytest.approx(best.x, rel=1e-3)


def test_learn_adjustment_finds_the_threshold_of_maximum_recall_plus_specificity():
    found = learn_adjustment(TWO_CLASSES, PROBABILITIES, TARGETS, temperature=False, threshold=True)
    assert found.temperature == 1.0

    def compute_quality(threshold):
        predicted = threshold < POSITIVE
        return predicted[TARGETS == 1].mean() + (~predicted)[TARGETS == 0].mean()

    best = max(compute_quality(threshold) for threshold in np.linspace(0, 1, 1001))
    assert compute_quality(found.threshold) == pytest.approx(best)


def test_learn_adjustment_finds_the_threshold_of_the_rescaled_probabilities():
    both = learn_adjustment(TWO_CLASSES, PROBABILITIES, TARGETS, temperature=True, threshold=True)
    tempered = Adjustment(both.temperature).apply(PROBABILITIES)
    alone = learn_adjustment(TWO_CLASSES, tempered, TARGETS, temperature=False, threshold=True)
    assert both.threshold == alone.threshold


def test_learn_adjustment_chooses_the_optimal_threshold_nearest_to_one_half():
    positive = np.array([0.1, 0.2, 0.8, 0.9])
    probabilities = np.stack([1 - positive, positive], axis=1)
    found = learn_adjustment(TWO_CLASSES, probabilities, np.array([0, 0, 1, 1]), temperature=False, threshold=True)
    assert found.threshold == 0.5


@pytest.mark.parametrize("targets", [np.zeros(10, int), np.ones(10, int)], ids=["negative", "positive"])
def test_learn_adjustment_keeps_one_half_if_there_is_only_one_class(targets):
    assert learn_adjustment(TWO_CLASSES, PROBABILITIES, targets, temperature=False, threshold=True).threshold == 0.5


def test_check_adjustment_rejects_more_than_two_classes():
    check_adjustment(True, False, ClassTarget.unnamed(3))
    check_adjustment(False, True, ClassTarget.unnamed(2))
    with pytest.raises(InputError, match="a threshold decides between two classes, but y has the classes 0, 1, 2"):
        check_adjustment(False, True, ClassTarget.unnamed(3))


def test_restore_adjustment_inverts_saving():
    assert restore_adjustment({"temperature": 2.0, "threshold": 0.3}) == Adjustment(2.0, 0.3)


@pytest.mark.parametrize("name", ["temperature", "threshold"])
@pytest.mark.parametrize("value", [None, "0.5", -1.0, float("nan"), [1.0]])
def test_restore_adjustment_rejects_invalid_values_by_name(name, value):
    with pytest.raises(InputError, match=f"{name} is"):
        restore_adjustment({"temperature": 2.0, "threshold": 0.3, name: value})
