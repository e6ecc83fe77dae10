"""The summary of a run: one dictionary of numbers, texts and lists with everything that a report shows.

It is computed from the files of the run (predictions.csv, weights.npy, metrics.json and others), without predicting
again. Only pictures and true key instances require the data. If the data cannot be opened, they are left out, and the
summary contains the reason.
"""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from bagwise.arguments import canonicalize_name
from bagwise.bags import Bags
from bagwise.errors import InputError
from bagwise.estimators import METHODS
from bagwise.evaluation import CONFIDENCE_LEVEL, N_RESAMPLES, describe_seen_bags
from bagwise.figures import is_image_shape
from bagwise.io import JsonObject
from bagwise.nn import choose_encoder, get_encoder_shape
from bagwise.report.notable_bags import find_notable_bags
from bagwise.report.predicted_bags import PredictedBags
from bagwise.runs import Run, name_method
from bagwise.targets import (
    Metric,
    Target,
    compute_auc,
    compute_average_precision,
    compute_calibration,
    compute_precision_recall,
    compute_roc,
    count_confusions,
)

HISTOGRAM_BINS = 20
MAX_PIXELATED_SIDE = 32  # images up to this size are shown pixel by pixel


def summarise_run(run: Run) -> JsonObject:
    """Summarise a run.

    Parameters
    ----------
    run : Run
        Run to summarise.

    Returns
    -------
    dict
        Summary, which can be written as JSON. It is a deterministic function of the files of the run and its data.
    """
    bags, missing = _open_test_bags(run)
    predictions = PredictedBags.read(run)
    parts = [SECTION_SUMMARIES[key](run, predictions) for key in run.target.sections]
    return {
        "metadata": _make_metadata(run, predictions),
        "metric_descriptions": {metric.name: _describe_metric(metric) for metric in run.target.shown_metrics},
        "metrics": run.metrics["bags"],
        "baselines": run.baselines,
        "baseline_notes": compare_with_baselines(run.target, run.metrics["bags"], run.baselines),
        "screening": run.screening,
        "groups": run.metrics.get("groups"),
        "key_instances": run.metrics.get("instances", {}),
        "intervals": {
            "level": CONFIDENCE_LEVEL,
            "resamples": N_RESAMPLES,
            "by": "group" if "group" in run.predictions[0] else "bag",
        },
        "notable_bags": find_notable_bags(predictions, bags),
        "data": _describe_data(bags, missing),
        **{name: value for part in parts for name, value in part.items()},
        "parameters": run.parameters,
        "environment": run.environment,
    }


def _describe_metric(metric: Metric) -> JsonObject:
    return {"title": metric.title, "meaning": metric.meaning, "is_share": (metric.low, metric.high) == (0, 1)}


def _open_test_bags(run: Run) -> tuple[Bags | None, str | None]:
    """Return the test bags, or None and the reason why they cannot be opened."""
    try:
        return run.test_bags(), None
    except (InputError, OSError) as error:
        return None, str(error)


def _make_metadata(run: Run, predictions: PredictedBags) -> JsonObject:
    n_seen = run.metrics.get("seen_bags")
    return {
        "run": run.folder.resolve().name,
        "data": Path(run.parameters["data"]["data"]).name,
        "method": name_method(run),
        "n_bags": run.metrics["n_bags"],
        "n_instances": run.metrics["n_instances"],
        "target": run.target.describe(),
        "outputs": predictions.titles,
        "output_kind": run.target.outputs[0].kind,
        "output_word": run.target.output_word,
        "outputs_name": run.target.outputs_name,
        "shown_output": None if run.target.shown_output is None else predictions.titles[run.target.shown_output],
        "main_metrics": list(run.target.main_metrics),
        "headline_metrics": list(run.target.headline_metrics),
        "metrics_note": run.target.metrics_note,
        "seen_warning": describe_seen_bags(n_seen, run.metrics["n_bags"]) if n_seen else "",
        "sections": list(run.target.sections),
        "label_counts": run.target.count_labels(predictions.targets),
        "network": _describe_network(run),
        "reference": METHODS[run.parameters["method"]].reference if run.parameters["method"] else None,
    }


def _describe_network(run: Run) -> JsonObject | None:
    """Describe the parts of a network and how its epoch was chosen; None for other methods."""
    if not run.history:
        return None
    network = run.network
    encoder = canonicalize_name(network["encoder"])
    return {
        "level": canonicalize_name(network["level"]),
        "pooling": canonicalize_name(network["pooling"]),
        "encoder": choose_encoder(get_encoder_shape(network["instance_shape"])) if encoder == "auto" else encoder,
        "epochs": len(run.history),
        "best_epoch": find_best_epoch(run.history),
        "validated": any(row["validation_loss"] is not None for row in run.history),
        "averaged_epochs": math.ceil(network["averaging"] * len(run.history)),
        "networks": network["networks"],
    }


def compare_with_baselines(
    target: Target, metrics: JsonObject, baselines: dict[str, dict[str, float | None]]
) -> list[str]:
    """Return one sentence per baseline that the model does not beat, by the metric that the target names for it."""
    notes = []
    for name, found in baselines.items():
        metric = target.metrics[target.baselines[name]]
        own, other = metrics[metric.name]["value"], found[metric.name]
        if None in (own, other) or (own > other if metric.greater_is_better else own < other):
            continue
        values = f"{metric.title} {own:.3f}, baseline {other:.3f}"
        notes.append(f"This model does not beat the baseline “{name}” on these test bags: {values}.")
    return notes


def find_best_epoch(history: list[dict[str, float | None]]) -> int | None:
    """Return the first epoch with the lowest validation error + loss; without validation bags, the last epoch."""
    validated = [
        (row["validation_error"] + row["validation_loss"], row["epoch"])
        for row in history
        if row["validation_error"] is not None and row["validation_loss"] is not None
    ]
    epoch = min(validated)[1] if validated else history[-1]["epoch"] if history else None
    return None if epoch is None else int(epoch)


def _describe_data(bags: Bags | None, missing: str | None) -> JsonObject:
    """Describe which properties of the instances a page can show."""
    shape = () if bags is None else bags.instance_shape
    return {
        "missing": missing,
        "instance_shape": list(shape),
        "pictures": is_image_shape(shape),
        "pixelated": is_image_shape(shape) and max(shape[:2]) <= MAX_PIXELATED_SIDE,
        "key_instances": bags is not None and bags.view("instance_labels") is not None,
    }


def _list_scored_outputs(predictions: PredictedBags) -> list[int]:
    """List the classes that have a curve: the positive one, or each of several against the rest."""
    shown = predictions.target.shown_output
    return list(range(predictions.target.n_outputs)) if shown is None else [shown]


def _summarise_roc(run: Run, predictions: PredictedBags) -> JsonObject:
    """Compute the ROC curves; None if undefined."""
    curves = []
    for index in _list_scored_outputs(predictions):
        positive, scores = predictions.targets == index, predictions.outputs[:, index]
        points = _to_lists(compute_roc(positive, scores))
        curves.append({"class": predictions.titles[index], "auc": compute_auc(positive, scores), "points": points})
    return {"roc": curves}


def _summarise_precision_recall(run: Run, predictions: PredictedBags) -> JsonObject:
    """Compute the precision-recall curves; None if undefined."""
    curves = []
    for index in _list_scored_outputs(predictions):
        positive, scores = predictions.targets == index, predictions.outputs[:, index]
        area, points = compute_average_precision(positive, scores), compute_precision_recall(positive, scores)
        curves.append({"class": predictions.titles[index], "average_precision": area, "points": _to_lists(points)})
    return {"precision_recall": curves}


def _summarise_confusion(run: Run, predictions: PredictedBags) -> JsonObject:
    counts = count_confusions(predictions.targets, predictions.predicted, predictions.target.n_outputs)
    return {"confusion": counts.tolist()}


def _summarise_calibration(run: Run, predictions: PredictedBags) -> JsonObject:
    return {"calibration": _to_lists(compute_calibration(predictions.targets, predictions.outputs))}


def _summarise_histogram(run: Run, predictions: PredictedBags) -> JsonObject:
    """Count bags by the probability of the positive class and label, or of the predicted class and correctness."""
    edges, shown = np.linspace(0, 1, HISTOGRAM_BINS + 1), predictions.target.shown_output
    if shown is not None:
        x_label, values = f"probability of class {predictions.titles[shown]}", predictions.outputs[:, shown]
        parts = {f"label {label}": predictions.targets == index for index, label in enumerate(predictions.titles)}
    else:
        x_label, values = "probability of the predicted class", predictions.outputs.max(axis=1)
        correct = predictions.predicted == predictions.targets
        parts = {"correct": correct, "wrong": ~correct}
    counts = {name: np.histogram(values[part], edges)[0].tolist() for name, part in parts.items()}
    return {"probabilities": {"edges": edges.tolist(), "x_label": x_label, "counts": counts}}


def _summarise_learning(run: Run, predictions: PredictedBags) -> JsonObject:
    return {"history": _collect_history(run)}


SECTION_SUMMARIES: dict[str, Callable[[Run, PredictedBags], JsonObject]] = {  # by the keys that a target names
    "roc": _summarise_roc,
    "precision_recall": _summarise_precision_recall,
    "confusion": _summarise_confusion,
    "learning": _summarise_learning,
    "calibration": _summarise_calibration,
    "histogram": _summarise_histogram,
}


def _collect_history(run: Run) -> dict[str, list[float | None]]:
    """Return the columns of the history; None for values that were not measured or are not finite."""
    columns = run.history[0] if run.history else {}
    return {name: [_finite_or_none(row[name]) for row in run.history] for name in columns}


def _finite_or_none(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _to_lists(points: Any) -> JsonObject | None:
    """Convert a named tuple of arrays to a dictionary of lists."""
    return None if points is None else {name: values.tolist() for name, values in points._asdict().items()}
