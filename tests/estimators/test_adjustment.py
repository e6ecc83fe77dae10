import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from bagwise.errors import InputError
from bagwise.estimators.adjustment import Adjustment, check_threshold, learn_adjustment, restored_adjustment

TARGETS = np.array([0, 0, 0, 0, 1, 1, 1, 1, 1, 0])
POSITIVE = np.array([0.01, 0.1, 0.35, 0.04, 0.3, 0.45, 0.6, 0.99, 0.41, 0.97])
PROBABILITIES = np.stack([1 - POSITIVE, POSITIVE], axis=1)


def test_the_temperature_is_the_likeliest():
    found = learn_adjustment(PROBABILITIES, TARGETS, temperature=True, threshold=False)
    assert found.threshold == 0.5

    def loss(temperature):
        powers = PROBABILITIES ** (1 / temperature)
        chances = powers / powers.sum(axis=1, keepdims=True)
        trust = np.where(np.arange(2) == TARGETS[:, None], 11 / 12, 1 / 12)  # (n + 1) / (n + 2), as in calibration
        return -(trust * np.log(chances)).sum(axis=1).mean()

    best = minimize_scalar(loss, bounds=(0.1, 20), method="bounded", options={"xatol": 1e-8})
    assert found.temperature == pytest.approx(best.x, rel=1e-3)


def test_the_threshold_has_the_greatest_recall_plus_specificity():
    found = learn_adjustment(PROBABILITIES, TARGETS, temperature=False, threshold=True)
    assert found.temperature == 1.0

    def quality(threshold):
        alarm = threshold < POSITIVE
        return alarm[TARGETS == 1].mean() + (~alarm)[TARGETS == 0].mean()

    assert quality(found.threshold) == pytest.approx(max(quality(edge) for edge in np.linspace(0, 1, 1001)))


def test_of_thresholds_that_are_as_good_the_nearest_to_one_half_is_taken():
    chances = np.array([0.1, 0.2, 0.8, 0.9])
    both = np.stack([1 - chances, chances], axis=1)
    assert learn_adjustment(both, np.array([0, 0, 1, 1]), temperature=False, threshold=True).threshold == 0.5


@pytest.mark.parametrize("targets", [np.zeros(10, int), np.ones(10, int)])
def test_bags_of_one_class_teach_no_threshold(targets):
    assert learn_adjustment(PROBABILITIES, targets, temperature=False, threshold=True).threshold == 0.5


def test_no_adjustment_changes_nothing():
    assert Adjustment().apply(PROBABILITIES) is PROBABILITIES


def test_a_threshold_needs_two_classes():
    check_threshold(False, 3)
    with pytest.raises(InputError, match="y has 3"):
        check_threshold(True, 3)


@pytest.mark.parametrize("name", ["temperature", "threshold"])
@pytest.mark.parametrize("value", [None, "0.5", -1.0, float("nan"), [1.0]])
def test_what_no_adjustment_has_is_refused_when_it_is_restored(name, value):
    assert restored_adjustment({"temperature": 2.0, "threshold": 0.3}) == Adjustment(2.0, 0.3)
    with pytest.raises(InputError, match=f"{name} is"):
        restored_adjustment({"temperature": 2.0, "threshold": 0.3, name: value})
