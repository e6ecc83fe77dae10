"""Baselines of a run: simple methods on the same split, so that a model that does not beat them is recognised."""

from bagwise.data import get_labels
from bagwise.estimators import build_method, set_positive
from bagwise.runs.parts import RunParts
from bagwise.targets import Target


def evaluate_baselines(parts: RunParts, method: str | None, target: Target) -> dict[str, dict[str, float | None]]:
    """Fit each baseline of the target to the training bags and evaluate it on the test bags.

    Parameters
    ----------
    parts : RunParts
        The bags of the run. Validation bags are not used: the model did not learn from their instances either.
    method : str or None
        Method of the run, which is no baseline of its own.
    target : Target
        Target of the run.

    Returns
    -------
    dict of str to dict
        Metrics of the test bags without intervals, by name of the baseline.
    """
    targets = target.encode(get_labels(parts.test, "test"), len(parts.test))
    metrics = {}
    for name in target.baselines:
        if name != method:
            estimator = set_positive(build_method(name, random_state=0), target.get_positive())
            estimator.fit(parts.training, get_labels(parts.training, "training"))
            outputs, threshold = estimator.predict_outputs(parts.test), estimator.decision_threshold
            metrics[name] = target.compute_metrics(targets, outputs, threshold)
    return metrics
