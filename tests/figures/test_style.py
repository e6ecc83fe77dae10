"""The style of figures: legible on light and dark backgrounds, and independent of the user's settings."""

import sys

import numpy as np
import pytest
from matplotlib.colors import to_rgb

from bagwise.figures.curve_plots import plot_roc
from bagwise.figures.prediction_plots import plot_confusion
from bagwise.figures.style import DASHES, SERIES, get_line_style, shorten_text, use_style
from bagwise.targets.curves import compute_roc


@pytest.mark.parametrize("colour", SERIES)
@pytest.mark.parametrize("background", ["#ffffff", "#171b21"])
def test_series_colours_have_contrast_on_light_and_dark_backgrounds(colour, background, contrast):
    assert contrast(to_rgb(colour), to_rgb(background)) >= 3


def test_get_line_style_distinguishes_sixteen_lines():
    assert len({tuple(get_line_style(number).values()) for number in range(16)}) == len(SERIES) * len(DASHES) == 16


def test_use_style_ignores_and_restores_the_settings_of_the_user():
    import matplotlib

    with matplotlib.rc_context({"axes.facecolor": "red", "font.size": 30}):
        with use_style():
            assert matplotlib.rcParams["axes.facecolor"] == "none"
            assert matplotlib.rcParams["font.size"] == 9
        assert matplotlib.rcParams["font.size"] == 30


def test_names_with_dollar_signs_are_not_parsed_as_mathematics(axes):
    plot_confusion(axes, np.eye(2, dtype=int), ["$\\frac", "$x$"])
    points = compute_roc(np.array([True, False, True, False]), np.array([0.9, 0.8, 0.7, 0.1]))
    plot_roc(axes, [("$\\frac", points)] * 2)
    axes.figure.canvas.draw()
    assert axes.get_legend().get_texts()[0].get_text() == "$\\frac"


def test_figures_need_no_pyplot():
    assert not any("pyplot" in vars(sys.modules[name]) for name in sys.modules if name.startswith("bagwise.figures"))


@pytest.mark.parametrize("length", [6, 13, 14])
def test_shorten_text_keeps_short_texts_and_both_ends_of_long_ones(length):
    assert shorten_text("x" * length, length) == "x" * length
    shortened = shorten_text("abcdefghijklmnopqrstuvwxyz", length)
    assert len(shortened) == length
    assert shortened.endswith("…vwxyz")
