"""A run in one plain dictionary: everything that a report or a viewer shows, as numbers, words and lists.

It comes from the files of the run (predictions.csv, weights.npy, metrics.json …) and is never predicted again. Only
the pictures and the true key instances need the data; without them the summary says so and goes on.
"""

import math
from pathlib import Path
from typing import Any

import numpy as np

from bagwise.bags import Bags
from bagwise.curves import calibration_bins, count_confusions, precision_recall_points, roc_points
from bagwise.encoders import fitting
from bagwise.errors import InputError
from bagwise.evaluation.bag_metrics import auc, average_precision
from bagwise.evaluation.intervals import DRAWS, LEVEL
from bagwise.figures.pictures import is_picture
from bagwise.files import read_json
from bagwise.inputs import encoder_shape
from bagwise.names import canonical
from bagwise.runs import Run
from bagwise.summary.judged import Judged, Plain
from bagwise.summary.telling import telling_bags

HISTOGRAM_BINS = 20
SMALL_PICTURE = 32  # images up to this side are shown pixel by pixel


def summarise(run: Run) -> Plain:
    """Everything there is to show of a run; it can be written as JSON, and the same run always gives the same."""
    bags, missing = _reopened(run)
    judged = Judged.read(run)
    return {
        "facts": _facts(run, judged),
        "metrics": run.metrics["bags"],
        "groups": run.metrics.get("groups"),
        "key_instances": run.metrics.get("instances", {}),
        "intervals": {"level": LEVEL, "draws": DRAWS, "by": "group" if "group" in run.predictions[0] else "bag"},
        "telling_bags": telling_bags(judged, bags),
        "data": _data(bags, missing),
        **_curves(judged),
        "confusion": count_confusions(judged.targets, judged.predicted, len(judged.classes)).tolist(),
        "calibration": _lists(calibration_bins(judged.targets, judged.probabilities)),
        "probabilities": _histogram(judged),
        "history": _history(run),
        "parameters": run.parameters,
        "environment": run.environment,
    }


def best_epoch(history: list[dict[str, float | None]]) -> int | None:
    """The epoch whose weights were kept: the first of least validation error + loss, else the last."""
    judged = [
        (row["validation_error"] + row["validation_loss"], row["epoch"])
        for row in history
        if row["validation_error"] is not None and row["validation_loss"] is not None
    ]
    epoch = min(judged)[1] if judged else history[-1]["epoch"] if history else None
    return None if epoch is None else int(epoch)


def _facts(run: Run, judged: Judged) -> Plain:
    parameters = run.parameters["parameters"]
    model = read_json(run.folder / "model" / "model.json")
    encoder = parameters["encoder"]
    return {
        "run": run.folder.resolve().name,
        "data": Path(run.parameters["data"]["data"]).name,
        "n_bags": run.metrics["n_bags"],
        "n_instances": run.metrics["n_instances"],
        "classes": judged.classes,
        "n_bags_by_class": np.bincount(judged.targets, minlength=len(judged.classes)).tolist(),
        "level": canonical(parameters["level"]),
        "pooling": canonical(parameters["pooling"]),
        "encoder": fitting(encoder_shape(tuple(model["instance_shape"]))) if encoder == "auto" else canonical(encoder),
        "epochs": len(run.history),
        "best_epoch": best_epoch(run.history),
        "validated": any(row["validation_loss"] is not None for row in run.history),
    }


def _reopened(run: Run) -> tuple[Bags | None, str | None]:
    """The test bags, or why they cannot be shown."""
    try:
        return run.test_bags(), None
    except (InputError, OSError) as error:
        return None, str(error)


def _data(bags: Bags | None, missing: str | None) -> Plain:
    """What the data let a page show of an instance."""
    shape = () if bags is None else bags.instance_shape
    return {
        "missing": missing,
        "instance_shape": list(shape),
        "pictures": is_picture(shape),
        "pixelated": is_picture(shape) and max(shape[:2]) <= SMALL_PICTURE,
        "key_instances": bags is not None and bags.instance_labels is not None,
    }


def _curves(judged: Judged) -> Plain:
    """A curve for the positive class, or for each of several against the rest; None where it is not defined."""
    classes = [1] if judged.two_classes else range(len(judged.classes))
    curves: dict[str, list[Plain]] = {"roc": [], "precision_recall": []}
    for number in classes:
        positive, scores, label = judged.targets == number, judged.probabilities[:, number], judged.classes[number]
        curves["roc"].append(
            {"class": label, "auc": auc(positive, scores), "points": _lists(roc_points(positive, scores))}
        )
        area, points = average_precision(positive, scores), precision_recall_points(positive, scores)
        curves["precision_recall"].append({"class": label, "average_precision": area, "points": _lists(points)})
    return curves


def _histogram(judged: Judged) -> Plain:
    """Bags by probability: of the positive class, for each label; or of the class predicted, for right and wrong."""
    edges = np.linspace(0, 1, HISTOGRAM_BINS + 1)
    if judged.two_classes:
        across, values = f"probability of class {judged.classes[1]}", judged.probabilities[:, 1]
        parts = {f"label {label}": judged.targets == number for number, label in enumerate(judged.classes)}
    else:
        across, values = "probability of the predicted class", judged.probabilities.max(axis=1)
        right = judged.predicted == judged.targets
        parts = {"right": right, "wrong": ~right}
    counts = {name: np.histogram(values[part], edges)[0].tolist() for name, part in parts.items()}
    return {"edges": edges.tolist(), "across": across, "counts": counts}


def _history(run: Run) -> dict[str, list[float | None]]:
    """The columns of the history; what was not measured, or is no number, is None."""
    columns = run.history[0] if run.history else {}
    return {name: [_finite(row[name]) for row in run.history] for name in columns}


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _lists(points: Any) -> Plain | None:
    """Named arrays as named lists."""
    return None if points is None else {name: values.tolist() for name, values in points._asdict().items()}
