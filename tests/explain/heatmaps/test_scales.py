"""Scales are monotonic, span their range and map zero to zero; colours are compared by lightness L* (CIE 1976)."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import rankdata

from bagwise.errors import InputError
from bagwise.explain.heatmaps.scales import (
    DECADES,
    SCALES,
    apply_colours,
    apply_scale,
    apply_signed_scale,
    choose_colour_map,
    rescale,
)

every_scale = pytest.mark.parametrize("scale", SCALES)


NUMBERS = st.floats(0, 1e6, allow_subnormal=False)


@every_scale
@settings(max_examples=60, deadline=None, derandomize=True)
@given(values=arrays(np.float64, st.integers(1, 30), elements=NUMBERS))
def test_apply_scale_is_monotonic_and_between_0_and_1(scale, values):
    found = apply_scale(values, scale)
    assert found.values.min() >= 0
    assert found.values.max() <= 1
    order = np.argsort(values, kind="stable")
    assert (np.diff(found.values[order]) >= 0).all()
    assert found.high == values.max()
    assert not found.signed


@every_scale
@settings(max_examples=60, deadline=None, derandomize=True)
@given(values=arrays(np.float64, st.integers(1, 30), elements=st.floats(-1e6, 1e6, allow_subnormal=False)))
def test_apply_signed_scale_is_odd_and_keeps_zero(scale, values):
    found = apply_signed_scale(values, scale)
    assert (np.sign(found.values) * np.sign(values) >= 0).all()
    assert (found.values[values == 0] == 0).all()
    assert np.abs(found.values).max() <= 1
    np.testing.assert_array_equal(apply_signed_scale(-values, scale).values, -found.values)
    assert found.low == -found.high
    assert found.high == np.abs(values).max()
    assert found.signed


def test_apply_scale_follows_the_equations():
    values = np.array([0.001, 0.01, 0.5, 0.1])
    np.testing.assert_allclose(apply_scale(values, "paper").values, (values - 0.001) / 0.499, rtol=1e-14)
    np.testing.assert_allclose(apply_scale(values, "raw").values, values / 0.5, rtol=1e-14)
    np.testing.assert_allclose(apply_scale(values, "rank").values, (rankdata(values) - 1) / 3, rtol=1e-14)
    decades = np.log10(0.5 / values)
    np.testing.assert_allclose(apply_scale(values, "log").values, 1 - decades / DECADES, rtol=1e-12)
    assert [apply_scale(values, scale).low for scale in SCALES] == [0.001, 0, 0.001, 0.5 / 10**DECADES]


def test_apply_signed_scale_follows_the_equations():
    values = np.array([-0.2, 0.4, 0.1])
    for scale in ("paper", "raw"):
        np.testing.assert_allclose(apply_signed_scale(values, scale).values, values / 0.4, rtol=1e-14)
    np.testing.assert_allclose(apply_signed_scale(values, "rank").values, [-2 / 3, 1, 1 / 3], rtol=1e-14)
    expected = np.sign(values) * (1 - np.log10(0.4 / np.abs(values)) / DECADES)
    np.testing.assert_allclose(apply_signed_scale(values, "log").values, expected, rtol=1e-12)


def test_apply_scale_maps_low_to_zero():
    values = np.array([0.2, 0.9, 0.4])
    for scale in SCALES:
        low = apply_scale(values, scale).low
        assert apply_scale(np.append(values, low), scale).values[-1] == pytest.approx(0, abs=1e-15)


def test_apply_scale_gives_equal_values_the_same_rank():
    assert apply_scale(np.array([0.0, 0.0, 0.0, 1.0]), "rank").values.tolist() == [0, 0, 0, 1]
    assert apply_scale(np.array([0.1, 0.3, 0.3, 0.2]), "rank").values.tolist() == [0, 2 / 3, 2 / 3, 1 / 3]


@every_scale
def test_apply_scale_maps_a_single_value_and_equal_values_to_one(scale):
    assert apply_scale(np.array([1.0]), scale).values.tolist() == [1]
    assert apply_scale(np.full(5, 0.2), scale).values.tolist() == [1] * 5


def test_apply_scale_log_covers_four_decades_and_accepts_zero():
    values = np.array([1.0, 1e-3, 1e-9, 0.0])
    assert apply_scale(values, "log").values.tolist() == pytest.approx([1, 0.25, 0, 0])
    assert apply_scale(np.zeros(3), "log").values.tolist() == [0, 0, 0]


@pytest.mark.parametrize("scale", ["raw", "log"])
def test_apply_scale_rejects_negative_values_on_raw_and_log_scales(scale):
    with pytest.raises(
        InputError, match=f"the {scale} scale requires non-negative values, but the minimum is -1; use the scale"
    ):
        apply_scale(np.array([1.0, -1.0]), scale)


def test_apply_scale_rejects_invalid_values_and_unknown_scales():
    with pytest.raises(InputError, match="the value of tile 1 is nan"):
        apply_scale(np.array([1.0, np.nan]), "raw")
    with pytest.raises(InputError, match="at least one tile"):
        apply_scale(np.zeros(0), "raw")
    with pytest.raises(InputError, match="scale 'rankk' is unknown; did you mean 'rank'"):
        apply_signed_scale(np.ones(2), "rankk")


def test_rescale_keeps_the_order_and_spans_0_to_1():
    values = np.random.default_rng(0).normal(size=20)
    found = rescale(values)
    assert (found.min(), found.max()) == (0, 1)
    assert (np.argsort(found) == np.argsort(values)).all()


def lightness(colours):
    """Return L* of sRGB values (uint8)."""
    shares = colours / 255
    linear = np.where(shares <= 0.04045, shares / 12.92, ((shares + 0.055) / 1.055) ** 2.4)
    luminance = linear @ np.array([0.2126, 0.7152, 0.0722])
    return np.where(luminance > 0.008856, 116 * np.cbrt(luminance) - 16, 903.3 * luminance)


def test_apply_colours_of_weights_has_even_steps_of_lightness():
    found = lightness(apply_colours(np.linspace(0, 1, 33), choose_colour_map(signed=False)))
    steps = np.diff(found)
    assert steps.min() > 0
    assert steps.max() < 2 * steps.mean()
    assert found[-1] - found[0] > 60


def test_apply_colours_of_signed_values_darkens_from_a_neutral_middle():
    colours = choose_colour_map(signed=True)
    middle = apply_colours(np.zeros(1), colours)[0].astype(int)
    assert np.ptp(middle) == 0
    for sign in (1, -1):
        assert (np.diff(lightness(apply_colours(sign * np.linspace(0, 1, 9), colours))) < 0).all()
    assert apply_colours(np.ones(1), colours)[0, 0] > apply_colours(np.ones(1), colours)[0, 2], "red is for"
    assert apply_colours(-np.ones(1), colours)[0, 0] < apply_colours(-np.ones(1), colours)[0, 2], "blue is against"


def test_choose_colour_map_uses_the_whole_range_of_a_named_map():
    colours = choose_colour_map(signed=False, name="gray")
    assert apply_colours(np.array([0.0, 1.0]), colours).tolist() == [[0, 0, 0], [255, 255, 255]]
    assert apply_colours(np.array([np.nan]), colours).tolist() == [[0, 0, 0]]


def test_choose_colour_map_suggests_names():
    with pytest.raises(InputError, match="unknown colour map 'viridiss'; did you mean 'viridis'"):
        choose_colour_map(False, "viridiss")
    with pytest.raises(InputError, match="unknown colour map 'xyzzy'; recommended are cividis, viridis"):
        choose_colour_map(False, "xyzzy")
