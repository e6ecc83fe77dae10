"""What every kind of target has in common."""

from bagwise.targets.classes import ClassTarget


def test_shown_metrics_begin_with_the_auc_and_contain_every_metric():
    target = ClassTarget.unnamed(2)
    assert [metric.name for metric in target.shown_metrics][:3] == ["auc", "average_precision", "accuracy"]
    assert {metric.name for metric in target.shown_metrics} == set(target.metrics)
