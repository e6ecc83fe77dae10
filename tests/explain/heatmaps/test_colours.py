"""Colours are told by their lightness, as CIE 1976 defines it, so that every eye and every printer sees the order."""

import numpy as np
import pytest

from bagwise.errors import InputError
from bagwise.explain.heatmaps.colours import coloured, colouring


def lightness(colours):
    """L* of sRGB bytes."""
    shares = colours / 255
    linear = np.where(shares <= 0.04045, shares / 12.92, ((shares + 0.055) / 1.055) ** 2.4)
    luminance = linear @ np.array([0.2126, 0.7152, 0.0722])
    return np.where(luminance > 0.008856, 116 * np.cbrt(luminance) - 16, 903.3 * luminance)


def test_weights_grow_lighter_in_even_steps():
    found = lightness(coloured(np.linspace(0, 1, 33), colouring(signed=False)))
    steps = np.diff(found)
    assert steps.min() > 0
    assert steps.max() < 2 * steps.mean()
    assert found[-1] - found[0] > 60


def test_signed_values_darken_both_ways_from_a_neutral_middle():
    colours = colouring(signed=True)
    middle = coloured(np.zeros(1), colours)[0].astype(int)
    assert np.ptp(middle) == 0
    for way in (1, -1):
        assert (np.diff(lightness(coloured(way * np.linspace(0, 1, 9), colours))) < 0).all()
    assert coloured(np.ones(1), colours)[0, 0] > coloured(np.ones(1), colours)[0, 2], "red speaks for"
    assert coloured(-np.ones(1), colours)[0, 0] < coloured(-np.ones(1), colours)[0, 2], "blue speaks against"


def test_a_map_of_another_name_is_used_from_end_to_end():
    colours = colouring(signed=False, name="gray")
    assert coloured(np.array([0.0, 1.0]), colours).tolist() == [[0, 0, 0], [255, 255, 255]]
    assert coloured(np.array([np.nan]), colours).tolist() == [[0, 0, 0]]


def test_an_unknown_map_gets_the_nearest_or_good_ones():
    with pytest.raises(InputError, match="colour map 'viridiss' is unknown; did you mean 'viridis'"):
        colouring(False, "viridiss")
    with pytest.raises(InputError, match="even steps have: cividis, viridis"):
        colouring(False, "xyzzy")
