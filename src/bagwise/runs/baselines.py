"""Baselines of a run: simple methods on the same split, so that a model that does not beat them is recognised."""

from bagwise.data import get_labels
from bagwise.estimators import build_method
from bagwise.runs.parts import RunParts

BASELINES = ("majority", "extra trees")


def evaluate_baselines(parts: RunParts, method: str | None) -> dict[str, dict[str, float | None]]:
    """Fit each baseline to the training bags and evaluate it on the test bags.

    Parameters
    ----------
    parts : RunParts
        The bags of the run. Validation bags are not used: the model did not learn from their instances either.
    method : str or None
        Method of the run, which is no baseline of its own.

    Returns
    -------
    dict of str to dict
        Metrics of the test bags without intervals, by name of the baseline.
    """
    labels = get_labels(parts.test, "test")
    metrics = {}
    for name in BASELINES:
        if name != method:
            estimator = build_method(name, random_state=0)
            estimator.fit(parts.training, get_labels(parts.training, "training"))
            target = estimator.target_
            outputs, threshold = estimator.predict_proba(parts.test), estimator.decision_threshold
            metrics[name] = target.compute_metrics(target.encode(labels, len(parts.test)), outputs, threshold)
    return metrics
