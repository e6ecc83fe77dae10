"""The lists of the viewer: what runs there are, and the test bags of each; read from the run's files, not predicted."""

from bagwise.names import canonical
from bagwise.runs import Run
from bagwise.summary import Plain


def describe_run(number: int, name: str, run: Run) -> Plain:
    """What the page says of a run; runs of the same ``test_bags`` can be compared bag by bag."""
    data, parameters, metrics = run.parameters["data"], run.parameters["parameters"], run.metrics["bags"]
    return {
        "number": number,
        "name": name,
        "data": data["data"],
        "pooling": canonical(parameters["pooling"]),
        "level": canonical(parameters["level"]),
        "classes": run.classes,
        "n_bags": len(run.predictions),
        "test_bags": run.manifest.get("test_bags"),
        "metrics": {title: metrics[title]["value"] for title in ("auc", "accuracy") if title in metrics},
    }


def list_bags(run: Run) -> list[Plain]:
    """A dictionary a test bag; probabilities are the text of predictions.csv, to the last digit."""
    return [_bag(number, row, run.classes) for number, row in enumerate(run.predictions)]


def _bag(number: int, row: dict[str, str], classes: list[str]) -> Plain:
    return {
        "number": number,
        "name": row["bag"],
        "group": row.get("group"),
        "label": row["label"],
        "predicted": row["predicted"],
        "right": row["label"] == row["predicted"],
        "probabilities": [row[f"probability {label}"] for label in classes],
        "n_instances": int(row["n_instances"]),
    }
