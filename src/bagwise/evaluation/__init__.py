"""Evaluation: metrics of bags and of key instances, with honest intervals."""

from bagwise.evaluation.bag_metrics import bag_metrics
from bagwise.evaluation.instance_metrics import instance_metrics
from bagwise.evaluation.intervals import bootstrap
from bagwise.evaluation.judging import Evaluation, evaluate

__all__ = ["Evaluation", "bag_metrics", "bootstrap", "evaluate", "instance_metrics"]
