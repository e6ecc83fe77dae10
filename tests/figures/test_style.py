"""The look of figures: legible for every eye, on any paper, whatever the user's own settings or names."""

import sys

import numpy as np
import pytest
from matplotlib.colors import to_rgb

from bagwise import figures
from bagwise.curves import roc_points
from bagwise.figures.style import DASHES, SERIES, line_style


@pytest.mark.parametrize("colour", SERIES)
@pytest.mark.parametrize("paper", ["#ffffff", "#171b21"])
def test_colours_stand_out_on_light_and_on_dark_paper(colour, paper, contrast):
    assert contrast(to_rgb(colour), to_rgb(paper)) >= 3


def test_sixteen_lines_differ():
    assert len({tuple(line_style(number).values()) for number in range(16)}) == len(SERIES) * len(DASHES) == 16


def test_the_users_own_settings_neither_change_a_figure_nor_are_changed():
    import matplotlib

    with matplotlib.rc_context({"axes.facecolor": "red", "font.size": 30}):
        with figures.styled():
            assert matplotlib.rcParams["axes.facecolor"] == "none"
            assert matplotlib.rcParams["font.size"] == 9
        assert matplotlib.rcParams["font.size"] == 30


def test_names_with_dollar_signs_are_not_mathematics(axes):
    figures.draw_confusion(axes, np.eye(2, dtype=int), ["$\\frac", "$x$"])
    points = roc_points(np.array([True, False, True, False]), np.array([0.9, 0.8, 0.7, 0.1]))
    figures.draw_roc(axes, [("$\\frac", points)] * 2)
    axes.figure.canvas.draw()
    assert axes.get_legend().get_texts()[0].get_text() == "$\\frac"


def test_figures_need_no_pyplot():
    assert not any("pyplot" in vars(sys.modules[name]) for name in sys.modules if name.startswith("bagwise.figures"))
