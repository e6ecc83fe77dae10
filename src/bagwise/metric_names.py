"""Metrics in words: the title and the meaning of each, in the order in which they are shown."""

METRICS = {
    "auc": ("AUC", "chance that a positive bag outranks a negative one"),
    "average_precision": ("Average precision", "area under the precision-recall curve"),
    "accuracy": ("Accuracy", "share of bags classified right"),
    "precision": ("Precision", "share of the alarms that are right"),
    "recall": ("Recall", "share of the positive bags that are found"),
    "f_score": ("F-score", "harmonic mean of precision and recall"),
    "log_loss": ("Log loss", "mean −log probability of the true class; less is better"),
    "brier": ("Brier score", "mean squared error of the probabilities; less is better"),
    "calibration_error": ("Calibration error", "mean gap between confidence and accuracy; less is better"),
}
KEY_METRICS = {
    "auc": ("AUC", "chance that a key instance outranks another of its bag"),
    "average_precision": ("Average precision", "of the ranking of instances within a bag"),
    "top_1": ("Top-1", "share of bags whose first instance is a key instance"),
    "top_k": ("Top-5", "share of key instances among the first five of a bag"),
    "pooled_auc": (
        "Pooled AUC",
        "over the instances of all bags at once; weights of different bags are not comparable",
    ),
    "pooled_average_precision": ("Pooled average precision", "over the instances of all bags at once"),
}
