import numpy as np
from matplotlib.figure import Figure

from bagwise.figures import draw_dots_beside, draw_lines_beside


def test_dots_stand_at_their_values_and_bars_reach_one_error():
    pairs = {"a": ((0.9, 0.02), (0.8, None)), "b": ((0.7, None), None)}
    axes = draw_dots_beside(Figure().subplots(), pairs, ("ours", "paper"))
    ours, paper = axes.containers
    assert ours.lines[0].get_xdata().tolist() == [0.9, 0.7]
    assert paper.lines[0].get_xdata().tolist() == [0.8]
    assert np.allclose(ours.lines[2][0].get_segments()[0][:, 0], [0.88, 0.92])
    assert [text.get_text() for text in axes.get_yticklabels()] == ["a", "b"]
    assert ours.lines[0].get_ydata()[0] > paper.lines[0].get_ydata()[0] > ours.lines[0].get_ydata()[1]


def test_lines_leave_out_what_is_not_known_and_share_their_colour():
    lines = {"a": ([(0.5, 0.1), None, (0.7, None)], [(0.4, None), (0.5, None), (0.6, None)])}
    axes = draw_lines_beside(Figure().subplots(), [50, 100, 200], lines)
    ours, theirs = axes.lines[0], axes.lines[-1]
    assert ours.get_xdata().tolist() == [50, 200]
    assert theirs.get_ydata().tolist() == [0.4, 0.5, 0.6]
    assert ours.get_color() == theirs.get_color()
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["a"]
