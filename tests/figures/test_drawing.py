"""What is drawn is what was given: the lines, bars and words on the axes."""

import sys

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from bagwise import figures
from bagwise.figures.calibration import CalibrationBins
from bagwise.figures.style import BLUE, DASHES, SERIES, VERMILLION, line_style

POSITIVE, SCORES = np.array([True, False, True, False]), np.array([0.9, 0.8, 0.7, 0.1])


@pytest.fixture
def axes():
    with figures.styled():
        yield Figure().subplots()


def words(axes):
    return [text.get_text() for text in axes.texts]


def lines(axes):
    return {line.get_label(): line.get_xydata() for line in axes.lines}


def test_roc_draws_each_curve_under_its_label(axes):
    curves = [("one", figures.roc_points(POSITIVE, SCORES)), ("two", figures.roc_points(POSITIVE, -SCORES))]
    assert figures.draw_roc(axes, curves) is axes
    for label, points in curves:
        np.testing.assert_array_equal(lines(axes)[label], np.column_stack(points))
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["one", "two"]


def test_precision_recall_draws_steps_and_the_share_of_positives(axes):
    points = figures.precision_recall_points(POSITIVE, SCORES)
    figures.draw_precision_recall(axes, [("bags", points)])
    curve, baseline = axes.lines
    np.testing.assert_array_equal(curve.get_xydata(), np.column_stack(points))
    assert curve.get_drawstyle() == "steps-post"
    assert set(baseline.get_ydata()) == {0.5}


def test_learning_curves_leave_out_what_was_not_measured(axes):
    nothing = np.full(3, np.nan)
    history = {
        "epoch": np.arange(1.0, 4),
        "loss": np.array([3.0, 2, 1]),
        "error": np.array([0.5, 0.2, 0.1]),
        "validation_loss": nothing,
        "validation_error": nothing,
    }
    figures.draw_learning_curves(axes, history, best=2)
    assert {"training loss", "training error"} <= lines(axes).keys()
    assert not any("validation" in label for label in lines(axes))
    np.testing.assert_array_equal(lines(axes)["training loss"][:, 1], [3, 2, 1])
    assert axes.lines[-1].get_xdata()[0] == 2


def test_a_single_epoch_is_visible(axes):
    figures.draw_learning_curves(axes, {"epoch": np.array([1.0]), "loss": np.array([0.3])}, best=1)
    assert axes.lines[0].get_marker() == "o"


def test_confusion_writes_counts_and_shares_of_the_true_class(axes):
    figures.draw_confusion(axes, np.array([[3, 1], [0, 0]]), ["no", "a very long name of a class"])
    assert words(axes) == ["3\n75%", "1\n25%", "0\n0%", "0\n0%"]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["no", "a very l…class"]


def test_confusion_is_legible_in_every_cell(axes):
    figures.draw_confusion(axes, np.array([[9, 1], [5, 5]]), ["a", "b"])
    mesh = axes.collections[0]
    mesh.update_scalarmappable()
    for cell, text in zip(mesh.get_facecolor(), axes.texts, strict=True):
        assert contrast(cell[:3], to_rgb(text.get_color())) > 4.5


def test_calibration_draws_a_dot_a_bin_whose_area_grows_with_its_bags(axes):
    bins = CalibrationBins(np.array([0.6, 0.95]), np.array([0.5, 1.0]), np.array([2, 8]))
    figures.draw_calibration(axes, bins, lowest=0.5)
    dots = axes.collections[-1]
    np.testing.assert_array_equal(dots.get_offsets(), [[0.6, 0.5], [0.95, 1.0]])
    assert np.diff(dots.get_sizes()) > 0


def test_histogram_bars_have_the_height_of_the_counts_and_stay_in_their_bin(axes):
    edges = np.linspace(0, 1, 5)
    counts = [("no", np.array([4, 0, 1, 0])), ("yes", np.array([0, 2, 0, 5]))]
    figures.draw_probability_histogram(axes, edges, counts, "probability")
    assert [patch.get_height() for patch in axes.patches] == [4, 0, 1, 0, 0, 2, 0, 5]
    for number, bar in enumerate(axes.patches):
        assert edges[number % 4] <= bar.get_x()
        assert bar.get_x() + bar.get_width() <= edges[number % 4 + 1]


@pytest.mark.parametrize("shape", [(8, 6), (8, 6, 1), (8, 6, 3), (5,)])
def test_bag_strip_writes_each_weight_and_frames_the_key_instances(axes, shape):
    weights = np.array([0.5, 0.3, 0.15, 0.05])
    key = np.array([True, False, True, False])
    figures.draw_bag_strip(axes, np.random.default_rng(0).random((4, *shape)), weights, key, columns=3)
    assert words(axes) == ["0.50", "0.30", "0.15", "0.05"]
    frames = [patch for patch in axes.patches if patch.get_facecolor()[3] == 0]
    assert [to_rgb(frame.get_edgecolor()) == to_rgb(VERMILLION) for frame in frames] == key.tolist()
    assert len(axes.images) == (0 if len(shape) == 1 else 4)
    if len(shape) == 1:
        bars = [patch.get_height() for patch in axes.patches if to_rgb(patch.get_facecolor()) == to_rgb(BLUE)]
        assert bars == weights.tolist()


def test_names_with_dollar_signs_are_not_mathematics(axes):
    figures.draw_confusion(axes, np.eye(2, dtype=int), ["$\\frac", "$x$"])
    figures.draw_roc(axes, [("$\\frac", figures.roc_points(POSITIVE, SCORES))] * 2)
    axes.figure.canvas.draw()
    assert axes.get_legend().get_texts()[0].get_text() == "$\\frac"


def luminance(colour):
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour]
    return float(np.dot([0.2126, 0.7152, 0.0722], linear))


def contrast(first, second):
    low, high = sorted([luminance(first), luminance(second)])
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("colour", SERIES)
@pytest.mark.parametrize("paper", ["#ffffff", "#171b21"])
def test_colours_stand_out_on_light_and_on_dark_paper(colour, paper):
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


def test_figures_need_no_pyplot():
    assert not any("pyplot" in vars(sys.modules[name]) for name in sys.modules if name.startswith("bagwise.figures"))
