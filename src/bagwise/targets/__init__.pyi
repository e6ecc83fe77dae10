__all__ = [
    "DEFAULT_THRESHOLD",
    "KEY_METRICS",
    "METRICS",
    "Bernoulli",
    "CalibrationBins",
    "Categorical",
    "Likelihood",
    "PrecisionRecallPoints",
    "RocPoints",
    "Supervised",
    "clip_log",
    "compute_auc",
    "compute_average_precision",
    "compute_bag_metrics",
    "compute_calibration",
    "compute_precision_recall",
    "compute_roc",
    "count_confusions",
    "decide_classes",
    "make_likelihood",
]

from .curves import (
    CalibrationBins,
    PrecisionRecallPoints,
    RocPoints,
    compute_calibration,
    compute_precision_recall,
    compute_roc,
    count_confusions,
)
from .likelihoods import Bernoulli, Categorical, Likelihood, Supervised, clip_log, make_likelihood
from .metrics import (
    DEFAULT_THRESHOLD,
    KEY_METRICS,
    METRICS,
    compute_auc,
    compute_average_precision,
    compute_bag_metrics,
    decide_classes,
)
