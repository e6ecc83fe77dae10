"""The card of a model: what it was trained on and how, how good it is and how sure that is, and what it is not for.

Everything in it is read from the run; the words on use follow from what was measured and from what was not.
"""

from pathlib import Path

from bagwise.datasets import DATASETS
from bagwise.files import MANIFEST, read_json, sha256
from bagwise.runs import Run
from bagwise.summary import Plain, summarise

INTENDED = (
    "Research. The model tells the classes above apart for bags like those it was trained on: made in the same way, "
    "with the same features and from the same kind of source."
)
NOT_INTENDED = (
    "Decisions about people without a study of their own: the numbers above come from one split of one data set. A "
    "weight says how much an instance counted, not in which direction, and is no measure of disease."
)


def describe_model(run: Run) -> Plain:
    """The card as plain values."""
    summary, model = summarise(run), read_json(run.folder / "model" / "model.json")
    facts, data = summary["facts"], run.parameters["data"]
    return {
        "name": facts["run"],
        "data": {"name": facts["data"], "options": data["options"], "extractor": model["extractor"]},
        "classes": facts["classes"],
        "instance_shape": model["instance_shape"],
        "training": _training(run),
        "protocol": {**_protocol(data), "validated": facts["validated"], "best_epoch": facts["best_epoch"]},
        "model": {name: facts[name] for name in ("pooling", "level", "encoder", "epochs")},
        "parameters": run.parameters["parameters"],
        "test": {
            "n_bags": facts["n_bags"],
            "n_instances": facts["n_instances"],
            "n_bags_by_class": dict(zip(facts["classes"], facts["n_bags_by_class"], strict=True)),
            "decision_threshold": run.metrics["decision_threshold"],
            "intervals": summary["intervals"],
            "metrics": summary["metrics"],
            "groups": summary["groups"],
            "key_instances": summary["key_instances"],
        },
        "intended_use": INTENDED,
        "not_intended": NOT_INTENDED,
        "environment": run.environment,
        "hashes": {
            "run": sha256(run.folder / MANIFEST),
            "test_bags": run.manifest.get("test_bags"),
        },
    }


def _training(run: Run) -> Plain:
    """How many bags and groups were learned from, and how many of the groups are judged by too."""
    rows, judged = run.training, {row["group"] for row in run.predictions if "group" in row}
    groups = {row["group"] for row in rows if "group" in row}
    uses = [row["use"] for row in rows]
    return {
        **{f"n_{use}_bags": uses.count(use) for use in ("training", "validation")},
        "n_groups": len(groups) or None,
        "n_groups_in_test_too": len(groups & judged) if groups else None,
    }


def _protocol(data: Plain) -> Plain:
    test = data["test"]
    by = "class; groups (patients) may be on both sides" if data.get("ungrouped") else "class and group"
    if data.get("splits"):
        held = f"tested on the bags that {Path(data['splits']).name} names"
    elif test is None:
        own = (known := DATASETS.get(data["data"])) is not None and known.splits
        held = "tested on the data set's own test bags" if own else f"tested on a fifth of the bags, held out by {by}"
    elif isinstance(test, float):
        held = f"tested on {test:.0%} of the bags, held out by {by}"
    else:
        held = f"tested on {test}"
    return {"test": held, "split_seed": data["split_seed"]}
