__all__ = [
    "CLASS_METRICS",
    "DEFAULT_THRESHOLD",
    "KEY_METRICS",
    "Bernoulli",
    "CalibrationBins",
    "Categorical",
    "ClassTarget",
    "Likelihood",
    "Metric",
    "Metrics",
    "Output",
    "PrecisionRecallPoints",
    "RocPoints",
    "Supervised",
    "Target",
    "Threshold",
    "clip_log",
    "clip_to_range",
    "compute_auc",
    "compute_average_precision",
    "compute_calibration",
    "compute_precision_recall",
    "compute_roc",
    "count_confusions",
    "decide_classes",
    "find_best",
    "make_likelihood",
    "register_target",
    "restore_target",
    "save_target",
]

from .base import (
    Metric,
    Metrics,
    Output,
    Target,
    Threshold,
    clip_to_range,
    find_best,
)
from .classes import ClassTarget
from .curves import (
    CalibrationBins,
    PrecisionRecallPoints,
    RocPoints,
    compute_calibration,
    compute_precision_recall,
    compute_roc,
    count_confusions,
)
from .key_metrics import KEY_METRICS
from .likelihoods import Bernoulli, Categorical, Likelihood, Supervised, clip_log, make_likelihood
from .metrics import CLASS_METRICS, DEFAULT_THRESHOLD, compute_auc, compute_average_precision, decide_classes
from .registry import register_target, restore_target, save_target
