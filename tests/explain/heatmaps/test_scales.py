"""Scales keep the order, span what they say, and leave zero where it is."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import rankdata

from bagwise.errors import InputError
from bagwise.explain.heatmaps.scales import DECADES, SCALES, rescaled, to_scale, to_signed_scale

EVERY = pytest.mark.parametrize("scale", SCALES)
NUMBERS = st.floats(0, 1e6, allow_subnormal=False)


@EVERY
@settings(max_examples=60, deadline=None, derandomize=True)
@given(values=arrays(np.float64, st.integers(1, 30), elements=NUMBERS))
def test_a_scale_keeps_the_order_and_stays_between_0_and_1(scale, values):
    found = to_scale(values, scale)
    assert found.values.min() >= 0
    assert found.values.max() <= 1
    order = np.argsort(values, kind="stable")
    assert (np.diff(found.values[order]) >= 0).all()
    assert found.high == values.max()
    assert not found.signed


@EVERY
@settings(max_examples=60, deadline=None, derandomize=True)
@given(values=arrays(np.float64, st.integers(1, 30), elements=st.floats(-1e6, 1e6, allow_subnormal=False)))
def test_a_signed_scale_keeps_signs_and_zero_and_is_the_same_both_ways(scale, values):
    found = to_signed_scale(values, scale)
    assert (np.sign(found.values) * np.sign(values) >= 0).all()
    assert (found.values[values == 0] == 0).all()
    assert np.abs(found.values).max() <= 1
    np.testing.assert_array_equal(to_signed_scale(-values, scale).values, -found.values)
    assert found.low == -found.high
    assert found.high == np.abs(values).max()
    assert found.signed


def test_each_scale_by_its_equation():
    values = np.array([0.001, 0.01, 0.5, 0.1])
    np.testing.assert_allclose(to_scale(values, "paper").values, (values - 0.001) / 0.499, rtol=1e-14)
    np.testing.assert_allclose(to_scale(values, "raw").values, values / 0.5, rtol=1e-14)
    np.testing.assert_allclose(to_scale(values, "rank").values, (rankdata(values) - 1) / 3, rtol=1e-14)
    decades = np.log10(0.5 / values)
    np.testing.assert_allclose(to_scale(values, "log").values, 1 - decades / DECADES, rtol=1e-12)
    assert [to_scale(values, scale).low for scale in SCALES] == [0.001, 0, 0.001, 0.5 / 10**DECADES]


def test_each_signed_scale_by_its_equation():
    values = np.array([-0.2, 0.4, 0.1])
    for scale in ("paper", "raw"):
        np.testing.assert_allclose(to_signed_scale(values, scale).values, values / 0.4, rtol=1e-14)
    np.testing.assert_allclose(to_signed_scale(values, "rank").values, [-2 / 3, 1, 1 / 3], rtol=1e-14)
    expected = np.sign(values) * (1 - np.log10(0.4 / np.abs(values)) / DECADES)
    np.testing.assert_allclose(to_signed_scale(values, "log").values, expected, rtol=1e-12)


def test_what_the_low_end_stands_for_is_drawn_as_zero():
    values = np.array([0.2, 0.9, 0.4])
    for scale in SCALES:
        low = to_scale(values, scale).low
        assert to_scale(np.append(values, low), scale).values[-1] == pytest.approx(0, abs=1e-15)


def test_values_that_are_equal_share_their_rank_and_zeros_of_max_pooling_stay_cold():
    assert to_scale(np.array([0.0, 0.0, 0.0, 1.0]), "rank").values.tolist() == [0, 0, 0, 1]
    assert to_scale(np.array([0.1, 0.3, 0.3, 0.2]), "rank").values.tolist() == [0, 2 / 3, 2 / 3, 1 / 3]


@EVERY
def test_one_instance_and_a_flat_bag_are_fully_drawn(scale):
    assert to_scale(np.array([1.0]), scale).values.tolist() == [1]
    assert to_scale(np.full(5, 0.2), scale).values.tolist() == [1] * 5


def test_the_log_scale_shows_what_the_raw_one_hides_and_bears_zero():
    values = np.array([1.0, 1e-3, 1e-9, 0.0])
    assert to_scale(values, "log").values.tolist() == pytest.approx([1, 0.25, 0, 0])
    assert to_scale(np.zeros(3), "log").values.tolist() == [0, 0, 0]


@pytest.mark.parametrize("scale", ["raw", "log"])
def test_scales_from_zero_refuse_what_is_below_it(scale):
    with pytest.raises(InputError, match=f"the {scale} scale begins at zero, and values go down to -1; take paper or"):
        to_scale(np.array([1.0, -1.0]), scale)


def test_what_cannot_be_drawn_is_refused():
    with pytest.raises(InputError, match="the value of tile 1 is nan"):
        to_scale(np.array([1.0, np.nan]), "raw")
    with pytest.raises(InputError, match="at least one tile"):
        to_scale(np.zeros(0), "raw")
    with pytest.raises(InputError, match="scale 'rankk' is unknown; did you mean 'rank'"):
        to_signed_scale(np.ones(2), "rankk")


def test_rescaling_keeps_the_order_and_spans_one():
    values = np.random.default_rng(0).normal(size=20)
    found = rescaled(values)
    assert (found.min(), found.max()) == (0, 1)
    assert (np.argsort(found) == np.argsort(values)).all()
