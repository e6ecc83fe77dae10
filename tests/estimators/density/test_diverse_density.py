import math
from decimal import Decimal, getcontext
from functools import partial
from itertools import pairwise

import numpy as np
import pytest

from bagwise.estimators.density.diverse_density import (
    DOUBT,
    Concept,
    MostLikelyInstance,
    NoisyOr,
    descend,
    distances,
    evaluate,
    log_odds,
    noisy_or_loss,
    single_loss,
)

getcontext().prec = 60
DRAWS = np.random.default_rng(0)
OFFSETS = np.array([0, 1, 4, 6, 11])
POSITIVE = np.array([True, False, True, False])
ROWS = DRAWS.normal(size=(11, 3))
CONCEPT = Concept(np.array([0.3, -0.2, 0.1]), np.array([0.8, 0.5, -0.3]))
SINGLE = partial(single_loss, positive=np.arange(11) % 2 == 0)
NOISY_OR = partial(noisy_or_loss, offsets=OFFSETS, positive=POSITIVE)
SPAN = np.array([1e-6, 1e-3, 0.5, 0.7, 5.0, 25.0, 36.0, 38.0, 100.0, 900.0, 1e4])  # of distances, near to far


def exact_absence(distance):
    """1 − P to sixty digits."""
    return 1 - (-Decimal(float(distance))).exp()


def exact_noisy_or(spans, positive):
    """The loss of one bag to sixty digits."""
    absence = math.prod(map(exact_absence, spans), start=Decimal(1))
    return float(-(1 - absence if positive else absence).ln())


def central_differences(function, at, step=1e-5):
    steps = np.eye(len(at)) * step
    return np.array([(function(at + each) - function(at - each)) / (2 * step) for each in steps])


def test_the_distance_is_the_scaled_square():
    parts = [[CONCEPT.scales[f] ** 2 * (row[f] - CONCEPT.point[f]) ** 2 for f in range(3)] for row in ROWS]
    expected = [sum(each) for each in parts]
    np.testing.assert_allclose(distances(ROWS, CONCEPT), np.array(expected) + DOUBT, rtol=1e-13)


def test_equal_rows_are_equally_far_to_the_bit_wherever_they_stand():
    rows = np.repeat(DRAWS.normal(size=(1, 37)), 13, axis=0)
    assert len(set(distances(rows, Concept(np.zeros(37), np.full(37, 0.3))))) == 1


def test_log_odds_are_precise_for_near_and_far():
    expected = [float(-Decimal(float(d)) - exact_absence(d).ln()) for d in SPAN]
    np.testing.assert_allclose(log_odds(SPAN), expected, rtol=1e-13, atol=1e-15)


def test_the_loss_of_single_rows_is_precise_for_near_and_far():
    for distance in SPAN:
        near = single_loss(np.array([distance]), np.array([False]))
        np.testing.assert_allclose(near.value, float(-exact_absence(distance).ln()), rtol=1e-13, atol=1e-300)
        assert single_loss(np.array([distance]), np.array([True])) == (distance, [1.0])


@pytest.mark.parametrize("positive", [True, False])
@pytest.mark.parametrize("spans", [[0.2, 1.5], [1e-6, 3.0, 30.0], [21.0, 22.0], [36.0, 38.0, 40.0]], ids=str)
def test_the_noisy_or_is_precise_for_near_and_far(spans, positive):
    found = noisy_or_loss(np.array(spans), np.array([0, len(spans)]), np.array([positive]))
    np.testing.assert_allclose(found.value, exact_noisy_or(spans, positive), rtol=1e-12)


def test_the_noisy_or_of_bags_far_from_the_concept_follows_their_nearest_row():
    found = noisy_or_loss(np.array([1e4, 1e4 + 1]), np.array([0, 2]), np.array([True]))
    np.testing.assert_allclose(found.value, 1e4 - np.log1p(np.exp(-1)), rtol=1e-15)
    np.testing.assert_allclose(found.slopes, 1 / (1 + np.exp([-1.0, 1.0])), rtol=1e-9)


@pytest.mark.parametrize("loss", [SINGLE, NOISY_OR], ids=["single", "noisy-or"])
def test_slopes_are_the_derivatives_by_the_distances(loss):
    at = DRAWS.uniform(0.05, 6.0, size=11)
    np.testing.assert_allclose(loss(at).slopes, central_differences(lambda d: loss(d).value, at), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("loss", [SINGLE, NOISY_OR], ids=["single", "noisy-or"])
def test_the_gradient_agrees_with_finite_differences(loss):
    def value(parameters):
        return loss(distances(ROWS, Concept(parameters[:3], parameters[3:]))).value

    expected = central_differences(value, np.concatenate([CONCEPT.point, CONCEPT.scales]))
    found = evaluate(ROWS, CONCEPT, loss)
    np.testing.assert_allclose(np.concatenate([found.by_point, found.by_scales]), expected, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(found.value, loss(distances(ROWS, CONCEPT)).value, rtol=1e-13)


@pytest.mark.parametrize("loss", [SINGLE, NOISY_OR], ids=["single", "noisy-or"])
@pytest.mark.parametrize("away", [0.0, 1e-9, 100.0], ids=str)
def test_values_and_gradients_are_finite_on_the_point_and_far_from_it(loss, away):
    rows = np.tile(CONCEPT.point, (11, 1)) + away / np.abs(CONCEPT.scales)
    np.testing.assert_allclose(distances(rows, CONCEPT), 3 * away**2 + DOUBT, rtol=1e-9)
    found = evaluate(rows, CONCEPT, loss)
    assert all(np.isfinite(part).all() for part in found)


@pytest.mark.parametrize("loss", [SINGLE, NOISY_OR], ids=["single", "noisy-or"])
def test_descents_end_where_the_loss_is_flat(loss):
    found = CONCEPT
    for _ in range(8):
        found = descend(ROWS, found, loss)
    before, after = evaluate(ROWS, CONCEPT, loss), evaluate(ROWS, found, loss)
    assert after.value < before.value
    assert np.abs(after.by_point).max() < 1e-3
    assert np.abs(after.by_scales).max() < 1e-3


def test_the_objectives_agree_on_bags_of_one_instance():
    bags = ROWS, np.arange(12), np.arange(11) % 3 == 0
    np.testing.assert_allclose(MostLikelyInstance(*bags).loss(CONCEPT), NoisyOr(*bags).loss(CONCEPT), rtol=1e-12)


def test_the_loss_of_the_most_likely_instance_bag_by_bag():
    expected = 0.0
    for (start, stop), positive in zip(pairwise(OFFSETS), POSITIVE, strict=True):
        presence = max(np.exp(-distances(ROWS[start:stop], CONCEPT)))
        expected -= np.log(presence if positive else 1 - presence)
    np.testing.assert_allclose(MostLikelyInstance(ROWS, OFFSETS, POSITIVE).loss(CONCEPT), expected, rtol=1e-12)


def test_an_m_step_sees_the_nearest_instance_of_each_bag_alone():
    nearest = [start + int(np.argmin(distances(ROWS[start:stop], CONCEPT))) for start, stop in pairwise(OFFSETS)]
    whole = MostLikelyInstance(ROWS, OFFSETS, POSITIVE).improve(CONCEPT)
    alone = MostLikelyInstance(ROWS[nearest], np.arange(5), POSITIVE).improve(CONCEPT)
    np.testing.assert_array_equal(whole.point, alone.point)
    np.testing.assert_array_equal(whole.scales, alone.scales)
