"""The notable bags of a run, such as the most confident right and wrong predictions, with their heaviest instances."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from bagwise.bags import Bags
from bagwise.figures import is_image_shape, to_data_uri, to_displayable
from bagwise.io import JsonObject
from bagwise.report.predicted_bags import PredictedBags
from bagwise.runs import format_label

MAX_INSTANCES = 12  # instances shown per bag


class NotableKind(NamedTuple):
    """A kind of notable bags: the ``max_bags`` members with the highest measure. Texts may contain {shown}."""

    title: str
    text: str
    empty: str
    members: Callable[[PredictedBags], np.ndarray]  # (n_bags,) of bool
    measure: Callable[[PredictedBags], np.ndarray]  # (n_bags,)
    max_bags: int


def _is_correct(predictions: PredictedBags) -> np.ndarray:
    return predictions.predicted == predictions.targets


def _is_positive(predictions: PredictedBags) -> np.ndarray:
    return predictions.targets == predictions.target.shown_output


def _get_shown_outputs(predictions: PredictedBags) -> np.ndarray:
    return predictions.outputs[np.arange(len(predictions.outputs)), predictions.shown]


def _get_confidence(predictions: PredictedBags) -> np.ndarray:
    return predictions.outputs.max(axis=1)


NOTABLE_KINDS: dict[str, NotableKind] = {  # by the keys that a target names
    "true positives": NotableKind(
        title="True positives",
        text="Bags of class {shown} that were predicted correctly, most confident first.",
        empty="None: no bag of class {shown} was predicted correctly.",
        members=lambda predictions: _is_positive(predictions) & _is_correct(predictions),
        measure=_get_shown_outputs,
        max_bags=3,
    ),
    "false negatives": NotableKind(
        title="False negatives",
        text="Bags of class {shown} that were missed, worst first.",
        empty="None: every bag of class {shown} was predicted correctly.",
        members=lambda predictions: _is_positive(predictions) & ~_is_correct(predictions),
        measure=lambda predictions: -_get_shown_outputs(predictions),
        max_bags=3,
    ),
    "false positives": NotableKind(
        title="False positives",
        text="Other bags that were predicted as class {shown}, worst first.",
        empty="None: no other bag was predicted as class {shown}.",
        members=lambda predictions: ~_is_positive(predictions) & ~_is_correct(predictions),
        measure=_get_shown_outputs,
        max_bags=3,
    ),
    "true negatives": NotableKind(
        title="True negatives",
        text="Other bags that were not predicted as class {shown}, most confident first.",
        empty="None: every other bag was predicted as class {shown}.",
        members=lambda predictions: ~_is_positive(predictions) & _is_correct(predictions),
        measure=lambda predictions: -_get_shown_outputs(predictions),
        max_bags=2,
    ),
    "correct": NotableKind(
        title="Correct",
        text="Bags whose class was predicted correctly, most confident first.",
        empty="None: no bag was classified correctly.",
        members=_is_correct,
        measure=_get_confidence,
        max_bags=4,
    ),
    "wrong": NotableKind(
        title="Wrong",
        text="Bags that were predicted as another class, worst (most confident) first.",
        empty="None: every bag was classified correctly.",
        members=lambda predictions: ~_is_correct(predictions),
        measure=_get_confidence,
        max_bags=4,
    ),
    "highest": NotableKind(
        title="Highest predictions",
        text="Bags with the highest predicted {shown}.",
        empty="None.",
        members=lambda predictions: np.ones(len(predictions.outputs), dtype=bool),
        measure=_get_shown_outputs,
        max_bags=3,
    ),
    "lowest": NotableKind(
        title="Lowest predictions",
        text="Bags with the lowest predicted {shown}.",
        empty="None.",
        members=lambda predictions: np.ones(len(predictions.outputs), dtype=bool),
        measure=lambda predictions: -_get_shown_outputs(predictions),
        max_bags=3,
    ),
}


def find_notable_bags(predictions: PredictedBags, bags: Bags | None) -> list[JsonObject]:
    """Find the notable bags of each kind; pictures and true key instances are included if ``bags`` is given."""
    selected = {name: _select_bags(NOTABLE_KINDS[name], predictions) for name in predictions.target.notable_bags}
    shown_rows = {
        int(bag): _find_heaviest_instances(predictions, int(bag)) for indices in selected.values() for bag in indices
    }
    pictures = _make_pictures(bags, sorted({int(row) for rows in shown_rows.values() for row in rows}))
    return [
        {
            "kind": name,
            "title": NOTABLE_KINDS[name].title,
            "text": _fill_text(NOTABLE_KINDS[name], predictions, is_empty=len(indices) == 0),
            "bags": [_describe_bag(predictions, bags, int(bag), shown_rows[int(bag)], pictures) for bag in indices],
        }
        for name, indices in selected.items()
    ]


def _select_bags(kind: NotableKind, predictions: PredictedBags) -> np.ndarray:
    members = kind.members(predictions)
    order = np.argsort(-kind.measure(predictions)[members], kind="stable")
    return np.flatnonzero(members)[order][: kind.max_bags]


def _fill_text(kind: NotableKind, predictions: PredictedBags, is_empty: bool) -> str:
    text, shown = kind.empty if is_empty else kind.text, predictions.target.shown_output
    return text if shown is None else text.replace("{shown}", predictions.titles[shown])


def _find_heaviest_instances(predictions: PredictedBags, bag: int) -> np.ndarray:
    """Return the rows of the instances with the highest weights in a bag, by decreasing weight."""
    start, end = predictions.offsets[bag : bag + 2]
    return start + np.argsort(-predictions.weights[start:end], kind="stable")[:MAX_INSTANCES]


def _make_pictures(bags: Bags | None, rows: list[int]) -> dict[int, str]:
    """Return a data URI per row if instances are images; all are scaled to the same range of brightness."""
    if bags is None or not is_image_shape(bags.instance_shape):
        return {}
    images = to_displayable(bags.view()[np.array(rows, dtype=int)])
    return {row: to_data_uri(image) for row, image in zip(rows, images, strict=True)}


def _describe_bag(
    predictions: PredictedBags, bags: Bags | None, bag: int, rows: np.ndarray, pictures: dict[int, str]
) -> JsonObject:
    """Describe a bag: its heaviest instances, and the output that is shown for it."""
    start, end = (int(row) for row in predictions.offsets[bag : bag + 2])
    shown = int(predictions.shown[bag])
    is_key = None if bags is None or (keys := bags.view("instance_labels")) is None else keys[start:end] > 0
    left_out = np.setdiff1d(np.arange(start, end), rows)
    return {
        "name": predictions.rows[bag]["bag"],
        "label": format_label(predictions.rows[bag]),
        "predicted": format_label(predictions.rows[bag], "predicted"),
        "output": float(predictions.outputs[bag, shown]),
        "output_of": predictions.titles[shown],
        "n_instances": end - start,
        "instances": [
            {
                "number": int(row) - start,
                "weight": float(predictions.weights[row]),
                "key": None if is_key is None else bool(is_key[row - start]),
                "picture": pictures.get(int(row)),
            }
            for row in rows
        ],
        "left_out": {
            "n_instances": len(left_out),
            "weight": float(predictions.weights[left_out].sum()),
            "n_key": None if is_key is None else int(is_key[left_out - start].sum()),
        },
    }
