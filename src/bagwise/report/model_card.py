"""Export of a run's model with its model card.

card.json, card.md   training data, protocol, metrics with intervals, intended use
model/               the model, for ``BagEstimator.load``
model.onnx           the model as an ONNX graph, if requested
manifest.json        size and SHA-256 of each of these files

The card contains only what is recorded in the run, and two fixed statements on its intended use.
"""

from pathlib import Path

from bagwise.data.datasets import DATASETS
from bagwise.estimators import BagEstimator
from bagwise.io import MANIFEST, JsonObject, hash_file, read_json, write_folder_atomically, write_json, write_manifest
from bagwise.report.summary import summarise_run
from bagwise.runs import Run, check_onnx_packages, write_onnx
from bagwise.targets import Target

KIND = "bagwise export"

INTENDED = (
    "Research. The model predicts {target} for bags like those it was trained on: made in the same way, with the same "
    "features, and from the same kind of source."
)
NOT_INTENDED = (
    "Decisions about people without a dedicated study: the numbers above come from one split of one data set. The "
    "weight of an instance is its share in the pooling. It does not show which {output_word} the instance supports, "
    "and it is not a measure of disease."
)

MARKDOWN_CHARACTERS = r"\`*_[]<>|"  # characters with a special meaning within a line of Markdown


def export_run(run: Run, folder: str | Path, *, onnx: bool = False) -> list[str]:
    """Write the model of a run with its model card.

    Parameters
    ----------
    run : Run
        Run to export.
    folder : str or Path
        A new folder, or an earlier export, which is replaced.
    onnx : bool, default=False
        Whether to write the model as an ONNX graph, too.

    Returns
    -------
    list of str
        Paths of the written files, relative to the folder.

    Raises
    ------
    InputError
        If the folder has other content, or the model cannot be written as ONNX.
    """
    if onnx:
        check_onnx_packages()
    estimator = BagEstimator.load(run.folder / "model")
    card = make_card(run)
    with write_folder_atomically(Path(folder), KIND) as temporary:
        write_json(temporary / "card.json", card)
        (temporary / "card.md").write_text(render_card(card, run.target), encoding="utf-8")
        estimator.save(temporary / "model")
        if onnx:
            write_onnx(estimator, temporary / "model.onnx")
        write_manifest(temporary, KIND)
        return sorted(path.relative_to(temporary).as_posix() for path in temporary.rglob("*") if path.is_file())


def make_card(run: Run) -> JsonObject:
    """Return the card as a dictionary that can be written as JSON."""
    summary, model = summarise_run(run), read_json(run.folder / "model" / "model.json")
    metadata, data = summary["metadata"], run.parameters["data"]
    return {
        "name": metadata["run"],
        "data": {"name": metadata["data"], "options": data["options"], "extractor": model["extractor"]},
        "target": metadata["target"],
        **({"classes": metadata["outputs"]} if metadata["label_counts"] else {}),
        "instance_shape": model["instance_shape"],
        "training": _count_training_bags(run),
        "protocol": {
            "test": _describe_test(data),
            "split_seed": data["split_seed"],
        },
        "model": {"method": metadata["method"], "reference": metadata["reference"], "network": metadata["network"]},
        "parameters": run.parameters["parameters"],
        "test": {
            "n_bags": metadata["n_bags"],
            "n_instances": metadata["n_instances"],
            **({"n_bags_by_class": metadata["label_counts"]} if metadata["label_counts"] else {}),
            "decision_threshold": run.metrics["decision_threshold"],
            "intervals": summary["intervals"],
            "metrics": summary["metrics"],
            "metrics_note": metadata["metrics_note"],
            "baselines": summary["baselines"],
            "groups": summary["groups"],
            "key_instances": summary["key_instances"],
        },
        "intended_use": INTENDED.format(target=metadata["target"]),
        "not_intended": NOT_INTENDED.format(output_word=metadata["output_word"]),
        "environment": run.environment,
        "hashes": {
            "run": hash_file(run.folder / MANIFEST),
            "test_bags": run.manifest.get("test_bags"),
        },
    }


def _count_training_bags(run: Run) -> JsonObject:
    """Count the training and validation bags, their groups, and the groups that also have test bags."""
    groups = {row["group"] for row in run.training if "group" in row}
    test_groups = {row["group"] for row in run.predictions if "group" in row}
    uses = [row["use"] for row in run.training]
    return {
        **{f"n_{use}_bags": uses.count(use) for use in ("training", "validation")},
        "n_groups": len(groups) or None,
        "n_groups_in_test_too": len(groups & test_groups) if groups else None,
    }


def _describe_test(data: JsonObject) -> str:
    """Describe the test bags, given the entry "data" of a run's parameters."""
    test = data["test"]
    by = "class; groups (e.g. patients) may be in both parts" if data.get("ungrouped") else "class and group"
    if data.get("splits"):
        return f"tested on the test bags of {Path(data['splits']).name}"
    if test is None:
        dataset = DATASETS.get(data["data"])
        if dataset is not None and dataset.splits:
            return "tested on the data set's own test bags"
        return f"tested on a fifth of the bags, held out by {by}"
    return f"tested on {test:.0%} of the bags, held out by {by}" if isinstance(test, float) else f"tested on {test}"


def render_card(card: JsonObject, target: Target) -> str:
    """Render the card as Markdown."""
    test, protocol = card["test"], card["protocol"]
    intervals, counts = test["intervals"], test.get("n_bags_by_class", {})
    by_label = ", ".join(f"{_escape_markdown(label)}: {count}" for label, count in counts.items())
    lines = [
        f"# {_escape_markdown(card['name'])}",
        "",
        "Predicts the target of a bag of instances and the weights of the instances. "
        f"Target: {_escape_markdown(card['target'])}.",
        "",
        f"- data: {_escape_markdown(card['data']['name'])}{_format_options(card['data']['options'])}, "
        f"instances of shape {'×'.join(map(str, card['instance_shape']))}",
        f"- trained on: {_format_training(card['training'])}",
        f"- model: {_format_model(card)}",
        f"- protocol: {protocol['test']}; {_format_epoch(card['model']['network'])}{_format_overlap(card['training'])}",
        f"- test bags: {test['n_bags']} with {test['n_instances']} instances{f' ({by_label})' if by_label else ''}",
        "",
        f"| metric | value | {intervals['level']:.0%} interval, by {intervals['by']} |",
        "| --- | --- | --- |",
        *(_format_metric(target.metrics[name].title, metric) for name, metric in test["metrics"].items()),
        "",
        *([_escape_markdown(test["metrics_note"]), ""] if test["metrics_note"] else []),
        "## Use",
        "",
        f"Intended: {card['intended_use']}",
        "",
        f"Not intended: {card['not_intended']}",
        "",
        "## Origin",
        "",
        *(f"- {name} {version}" for name, version in _list_versions(card)),
        *(f"- SHA-256 of the {name.replace('_', ' ')}: `{value}`" for name, value in card["hashes"].items()),
        "",
    ]
    return "\n".join(lines)


def _format_options(options: JsonObject) -> str:
    return f" ({_escape_markdown(', '.join(f'{name}={value}' for name, value in options.items()))})" if options else ""


def _format_training(training: JsonObject) -> str:
    parts = [f"{training['n_training_bags']} bags"]
    if training["n_validation_bags"]:
        parts.append(f"{training['n_validation_bags']} more for validation")
    if training["n_groups"]:
        parts.append(f"of {training['n_groups']} groups (e.g. patients)")
    return ", ".join(parts)


def _format_model(card: JsonObject) -> str:
    model, network, seed = card["model"], card["model"]["network"], card["parameters"].get("random_state")
    parts = [_escape_markdown(model["method"] + (f" ({model['reference']})" if model["reference"] else ""))]
    if network is not None:
        parts.append(
            f"{network['pooling']}, {network['level']} level, encoder {network['encoder']}, epochs: {network['epochs']}"
        )
        if network["networks"] > 1:
            parts.append(f"average of {network['networks']} networks, each trained without one fold of the bags")
    return ", ".join([*parts, *([] if seed is None else [f"seed {seed}"])])


def _format_epoch(network: JsonObject | None) -> str:
    if network is None:
        return "nothing was chosen on test bags"
    if network["averaged_epochs"]:
        return f"parameters averaged over the last {network['averaged_epochs']} epochs; nothing was chosen on test bags"
    if network["validated"]:
        return f"the epoch ({network['best_epoch']}) was chosen on validation bags, never on test bags"
    return "trained to the last epoch; nothing was chosen on test bags"


def _format_overlap(training: JsonObject) -> str:
    """Return a warning if groups have both training and test bags, whichever protocol was requested."""
    if not training["n_groups_in_test_too"]:
        return ""
    return (
        f"; **{training['n_groups_in_test_too']} groups (e.g. patients) have both training and test bags: the metrics "
        "are too optimistic**"
    )


def _list_versions(card: JsonObject) -> list[tuple[str, str]]:
    environment = card["environment"]
    return [("bagwise", environment["bagwise"]), ("python", environment["python"]), *environment["packages"].items()]


def _format_metric(title: str, metric: JsonObject) -> str:
    value, bounds = metric["value"], metric["interval"]
    interval = "n/a" if bounds is None else f"{bounds[0]:.3f} – {bounds[1]:.3f}"
    return f"| {title} | {'n/a' if value is None else f'{value:.3f}'} | {interval} |"


def _escape_markdown(text: str) -> str:
    """Escape text so that Markdown shows it literally, on one line."""
    return "".join(f"\\{letter}" if letter in MARKDOWN_CHARACTERS else letter for letter in " ".join(text.split()))
