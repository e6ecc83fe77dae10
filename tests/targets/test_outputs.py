"""Metrics as objects: ranges, directions, order."""

import pytest

from bagwise.targets.metrics import CLASS_METRICS
from bagwise.targets.outputs import clip_to_range, find_best

LOSSES = {"log_loss", "brier", "calibration_error"}


@pytest.mark.parametrize("name", CLASS_METRICS)
def test_metrics_state_their_direction_and_range(name):
    metric = CLASS_METRICS[name]
    assert metric.name == name
    assert metric.greater_is_better == (name not in LOSSES)
    assert ("lower is better" in metric.meaning) == (name in LOSSES)
    assert clip_to_range(metric, -1.0, 0.5) == (0.0, 0.5)
    assert clip_to_range(metric, 0.5, 3.0)[1] == (3.0 if name in ("log_loss", "brier") else 1.0)


def test_find_best_takes_the_direction_of_the_metric_and_ignores_undefined_values():
    values = [0.3, None, 0.7, float("nan")]
    assert find_best(CLASS_METRICS["auc"], values) == 0.7
    assert find_best(CLASS_METRICS["log_loss"], values) == 0.3
    assert find_best(CLASS_METRICS["auc"], [None]) is None
