import numpy as np

from bagwise.figures import draw_removal_curves


def test_both_curves_are_drawn_as_given_beside_the_whole_bag(axes):
    shares, deletion, insertion = np.array([0, 0.5, 1]), np.array([0.9, 0.3, 0.5]), np.array([0.5, 0.8, 0.9])
    assert draw_removal_curves(axes, shares, deletion, insertion) is axes
    whole, without, alone = axes.lines
    assert set(whole.get_ydata()) == {0.9}
    np.testing.assert_array_equal(without.get_xydata(), np.column_stack([shares, deletion]))
    np.testing.assert_array_equal(alone.get_xydata(), np.column_stack([shares, insertion]))
    assert "without" in without.get_label()
    assert "alone" in alone.get_label()
