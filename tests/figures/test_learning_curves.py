"""Learning curves: what was measured, epoch by epoch, and nothing else."""

import numpy as np

from bagwise.figures import draw_learning_curves


def test_learning_curves_leave_out_what_was_not_measured(axes):
    nothing = np.full(3, np.nan)
    history = {
        "epoch": np.arange(1.0, 4),
        "loss": np.array([3.0, 2, 1]),
        "error": np.array([0.5, 0.2, 0.1]),
        "validation_loss": nothing,
        "validation_error": nothing,
    }
    draw_learning_curves(axes, history, best=2)
    lines = {line.get_label(): line.get_xydata() for line in axes.lines}
    assert {"training loss", "training error"} <= lines.keys()
    assert not any("validation" in label for label in lines)
    np.testing.assert_array_equal(lines["training loss"][:, 1], [3, 2, 1])
    assert axes.lines[-1].get_xdata()[0] == 2


def test_a_single_epoch_is_visible(axes):
    draw_learning_curves(axes, {"epoch": np.array([1.0]), "loss": np.array([0.3])}, best=1)
    assert axes.lines[0].get_marker() == "o"
