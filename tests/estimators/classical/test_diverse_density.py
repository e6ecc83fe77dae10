import math
from decimal import Decimal, getcontext
from functools import partial
from itertools import pairwise

import numpy as np
import pytest

from bagwise.estimators.classical.diverse_density import (
    MIN_DISTANCE,
    Concept,
    MostLikelyObjective,
    NoisyOrObjective,
    compute_distances,
    compute_log_odds,
    compute_noisy_or_loss,
    compute_single_loss,
    evaluate_loss,
    minimize_loss,
)

getcontext().prec = 60
GENERATOR = np.random.default_rng(0)
OFFSETS = np.array([0, 1, 4, 6, 11])
POSITIVE = np.array([True, False, True, False])
ROWS = GENERATOR.normal(size=(11, 3))
CONCEPT = Concept(np.array([0.3, -0.2, 0.1]), np.array([0.8, 0.5, -0.3]))
SINGLE = partial(compute_single_loss, positive=np.arange(11) % 2 == 0)
NOISY_OR = partial(compute_noisy_or_loss, offsets=OFFSETS, positive=POSITIVE)
DISTANCES = np.array([1e-6, 1e-3, 0.5, 0.7, 5.0, 25.0, 36.0, 38.0, 100.0, 900.0, 1e4])  # from near to far


def compute_exact_absence(distance):
    """Compute 1 − P with sixty digits."""
    return 1 - (-Decimal(float(distance))).exp()


def compute_exact_noisy_or(distances, positive):
    """Compute the loss of one bag with sixty digits."""
    absence = math.prod(map(compute_exact_absence, distances), start=Decimal(1))
    return float(-(1 - absence if positive else absence).ln())


def compute_central_differences(function, at, step=1e-5):
    steps = np.eye(len(at)) * step
    return np.array([(function(at + each) - function(at - each)) / (2 * step) for each in steps])


def test_compute_distances_is_the_scaled_squared_distance():
    parts = [[CONCEPT.scales[f] ** 2 * (row[f] - CONCEPT.point[f]) ** 2 for f in range(3)] for row in ROWS]
    expected = [sum(each) for each in parts]
    np.testing.assert_allclose(compute_distances(ROWS, CONCEPT), np.array(expected) + MIN_DISTANCE, rtol=1e-13)


def test_compute_distances_is_bit_identical_for_equal_rows():
    rows = np.repeat(GENERATOR.normal(size=(1, 37)), 13, axis=0)
    assert len(set(compute_distances(rows, Concept(np.zeros(37), np.full(37, 0.3))))) == 1


def test_compute_log_odds_is_precise_for_small_and_large_distances():
    expected = [float(-Decimal(float(d)) - compute_exact_absence(d).ln()) for d in DISTANCES]
    np.testing.assert_allclose(compute_log_odds(DISTANCES), expected, rtol=1e-13, atol=1e-15)


def test_compute_single_loss_is_precise_for_small_and_large_distances():
    for distance in DISTANCES:
        near = compute_single_loss(np.array([distance]), np.array([False]))
        np.testing.assert_allclose(near.value, float(-compute_exact_absence(distance).ln()), rtol=1e-13, atol=1e-300)
        assert compute_single_loss(np.array([distance]), np.array([True])) == (distance, [1.0])


@pytest.mark.parametrize("positive", [True, False])
@pytest.mark.parametrize("distances", [[0.2, 1.5], [1e-6, 3.0, 30.0], [21.0, 22.0], [36.0, 38.0, 40.0]], ids=str)
def test_compute_noisy_or_loss_is_precise_for_small_and_large_distances(distances, positive):
    found = compute_noisy_or_loss(np.array(distances), np.array([0, len(distances)]), np.array([positive]))
    np.testing.assert_allclose(found.value, compute_exact_noisy_or(distances, positive), rtol=1e-12)


def test_compute_noisy_or_loss_depends_on_the_nearest_row_far_from_the_concept():
    found = compute_noisy_or_loss(np.array([1e4, 1e4 + 1]), np.array([0, 2]), np.array([True]))
    np.testing.assert_allclose(found.value, 1e4 - np.log1p(np.exp(-1)), rtol=1e-15)
    np.testing.assert_allclose(found.gradients, 1 / (1 + np.exp([-1.0, 1.0])), rtol=1e-9)


@pytest.mark.parametrize("loss", [SINGLE, NOISY_OR], ids=["single", "noisy-or"])
def test_loss_gradients_agree_with_finite_differences(loss):
    at = GENERATOR.uniform(0.05, 6.0, size=11)
    np.testing.assert_allclose(
        loss(at).gradients, compute_central_differences(lambda d: loss(d).value, at), rtol=1e-6, atol=1e-9
    )


@pytest.mark.parametrize("loss", [SINGLE, NOISY_OR], ids=["single", "noisy-or"])
def test_evaluate_loss_gradients_agree_with_finite_differences(loss):
    def value(parameters):
        return loss(compute_distances(ROWS, Concept(parameters[:3], parameters[3:]))).value

    expected = compute_central_differences(value, np.concatenate([CONCEPT.point, CONCEPT.scales]))
    found = evaluate_loss(ROWS, CONCEPT, loss)
    np.testing.assert_allclose(
        np.concatenate([found.point_gradient, found.scales_gradient]), expected, rtol=1e-6, atol=1e-8
    )
    np.testing.assert_allclose(found.value, loss(compute_distances(ROWS, CONCEPT)).value, rtol=1e-13)


@pytest.mark.parametrize("loss", [SINGLE, NOISY_OR], ids=["single", "noisy-or"])
@pytest.mark.parametrize("away", [0.0, 1e-9, 100.0], ids=str)
def test_evaluate_loss_is_finite_near_and_far_from_the_concept(loss, away):
    rows = np.tile(CONCEPT.point, (11, 1)) + away / np.abs(CONCEPT.scales)
    np.testing.assert_allclose(compute_distances(rows, CONCEPT), 3 * away**2 + MIN_DISTANCE, rtol=1e-9)
    found = evaluate_loss(rows, CONCEPT, loss)
    assert all(np.isfinite(part).all() for part in found)


@pytest.mark.parametrize("loss", [SINGLE, NOISY_OR], ids=["single", "noisy-or"])
def test_minimize_loss_converges_to_a_zero_gradient(loss):
    found = CONCEPT
    for _ in range(8):
        found = minimize_loss(ROWS, found, loss)
    before, after = evaluate_loss(ROWS, CONCEPT, loss), evaluate_loss(ROWS, found, loss)
    assert after.value < before.value
    assert np.abs(after.point_gradient).max() < 1e-3
    assert np.abs(after.scales_gradient).max() < 1e-3


def test_objectives_agree_on_bags_of_one_instance():
    bags = ROWS, np.arange(12), np.arange(11) % 3 == 0
    np.testing.assert_allclose(
        MostLikelyObjective(*bags).loss(CONCEPT), NoisyOrObjective(*bags).loss(CONCEPT), rtol=1e-12
    )


def test_most_likely_objective_sums_the_loss_over_bags():
    expected = 0.0
    for (start, stop), positive in zip(pairwise(OFFSETS), POSITIVE, strict=True):
        presence = max(np.exp(-compute_distances(ROWS[start:stop], CONCEPT)))
        expected -= np.log(presence if positive else 1 - presence)
    np.testing.assert_allclose(MostLikelyObjective(ROWS, OFFSETS, POSITIVE).loss(CONCEPT), expected, rtol=1e-12)


def test_most_likely_objective_improves_by_the_nearest_instance_of_each_bag():
    nearest = [
        start + int(np.argmin(compute_distances(ROWS[start:stop], CONCEPT))) for start, stop in pairwise(OFFSETS)
    ]
    whole = MostLikelyObjective(ROWS, OFFSETS, POSITIVE).improve(CONCEPT)
    alone = MostLikelyObjective(ROWS[nearest], np.arange(5), POSITIVE).improve(CONCEPT)
    np.testing.assert_array_equal(whole.point, alone.point)
    np.testing.assert_array_equal(whole.scales, alone.scales)
