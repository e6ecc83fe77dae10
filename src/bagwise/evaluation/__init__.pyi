__all__ = [
    "CONFIDENCE_LEVEL",
    "N_RESAMPLES",
    "Evaluation",
    "GroupPredictions",
    "Split",
    "StandardErrors",
    "Unit",
    "arrange_values",
    "bootstrap_intervals",
    "check_splits",
    "compute_fold_error",
    "compute_instance_metrics",
    "describe_seen_bags",
    "evaluate",
    "get_groups",
    "get_metric_values",
    "get_pooled_values",
    "group_predictions",
    "make_repeated_folds",
    "make_repeated_hold_out",
    "pool_predictions",
    "share_test_bags",
]

from .cross_validation import Unit, arrange_values, get_metric_values, get_pooled_values, pool_predictions
from .evaluation import Evaluation, GroupPredictions, describe_seen_bags, evaluate, group_predictions
from .instance_metrics import compute_instance_metrics
from .intervals import (
    CONFIDENCE_LEVEL,
    N_RESAMPLES,
    StandardErrors,
    bootstrap_intervals,
    compute_fold_error,
    share_test_bags,
)
from .protocol import Split, check_splits, get_groups, make_repeated_folds, make_repeated_hold_out
