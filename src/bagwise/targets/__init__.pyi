__all__ = [
    "AUTO",
    "CLASS_METRICS",
    "DEFAULT_THRESHOLD",
    "KEY_METRICS",
    "MIN_PROBABILITY",
    "Bernoulli",
    "CalibrationBins",
    "Categorical",
    "ClassLikelihood",
    "ClassTarget",
    "Likelihood",
    "Metric",
    "Metrics",
    "Output",
    "PrecisionRecallPoints",
    "RocPoints",
    "Scores",
    "Supervised",
    "Target",
    "Targets",
    "Threshold",
    "clip_log",
    "clip_to_range",
    "compute_auc",
    "compute_average_precision",
    "compute_calibration",
    "compute_excess_calibration_error",
    "compute_precision_recall",
    "compute_roc",
    "count_confusions",
    "decide_classes",
    "find_best",
    "find_failures",
    "learn_target",
    "list_kinds",
    "make_likelihood",
    "make_unnamed_target",
    "register_target",
    "restore_target",
    "save_target",
    "weigh_classes",
]

from .base import Target
from .class_likelihoods import MIN_PROBABILITY, Bernoulli, Categorical, ClassLikelihood, clip_log, make_likelihood
from .classes import ClassTarget, weigh_classes
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
from .likelihoods import Likelihood, Scores, Supervised, Targets
from .metrics import (
    CLASS_METRICS,
    DEFAULT_THRESHOLD,
    compute_auc,
    compute_average_precision,
    compute_excess_calibration_error,
    decide_classes,
)
from .outputs import Metric, Metrics, Output, Threshold, clip_to_range, find_best, find_failures
from .registry import AUTO, learn_target, list_kinds, make_unnamed_target, register_target, restore_target, save_target
