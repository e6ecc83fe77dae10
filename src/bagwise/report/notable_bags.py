"""The notable bags of a run: the most confident correct and wrong predictions, with their heaviest instances."""

from typing import NamedTuple

import numpy as np

from bagwise.bags import Bags
from bagwise.figures import is_image_shape, to_data_uri, to_displayable
from bagwise.io import JsonObject
from bagwise.report.predicted_bags import PredictedBags

MAX_INSTANCES = 12  # instances shown per bag


class NotableKind(NamedTuple):
    """A kind of notable bag: the ``max_bags`` bags with the highest ``measure`` among the ``members``."""

    name: str
    members: np.ndarray  # (n_bags,) of bool
    measure: np.ndarray  # (n_bags,)
    max_bags: int


def find_notable_bags(predictions: PredictedBags, bags: Bags | None) -> list[JsonObject]:
    """Find the notable bags of each kind; pictures and true key instances are included if ``bags`` is given."""
    selected = {
        kind.name: np.flatnonzero(kind.members)[np.argsort(-kind.measure[kind.members], kind="stable")][: kind.max_bags]
        for kind in _make_kinds(predictions)
    }
    shown_rows = {
        int(bag): _find_heaviest_instances(predictions, int(bag)) for indices in selected.values() for bag in indices
    }
    pictures = _make_pictures(bags, sorted({int(row) for rows in shown_rows.values() for row in rows}))
    return [
        {
            "kind": name,
            "bags": [_describe_bag(predictions, bags, int(bag), shown_rows[int(bag)], pictures) for bag in indices],
        }
        for name, indices in selected.items()
    ]


def _make_kinds(predictions: PredictedBags) -> list[NotableKind]:
    """Return the kinds: true and false positives and negatives for two classes, else correct and wrong predictions."""
    correct = predictions.predicted == predictions.targets
    if not predictions.is_binary:
        confidence = predictions.probabilities.max(axis=1)
        return [
            NotableKind(name="correct", members=correct, measure=confidence, max_bags=4),
            NotableKind(name="wrong", members=~correct, measure=confidence, max_bags=4),
        ]
    positive = predictions.targets == predictions.positive
    probability = predictions.probabilities[:, predictions.positive]
    return [
        NotableKind(name="true positives", members=positive & correct, measure=probability, max_bags=3),
        NotableKind(name="false negatives", members=positive & ~correct, measure=-probability, max_bags=3),
        NotableKind(name="false positives", members=~positive & ~correct, measure=probability, max_bags=3),
        NotableKind(name="true negatives", members=~positive & correct, measure=-probability, max_bags=2),
    ]


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
    """Describe a bag: its heaviest instances, and the probability of the positive or predicted class."""
    start, end = (int(row) for row in predictions.offsets[bag : bag + 2])
    shown_class = predictions.positive if predictions.is_binary else int(predictions.predicted[bag])
    is_key = None if bags is None or (keys := bags.view("instance_labels")) is None else keys[start:end] > 0
    left_out = np.setdiff1d(np.arange(start, end), rows)
    return {
        "name": predictions.rows[bag]["bag"],
        "label": predictions.rows[bag]["label"],
        "predicted": predictions.rows[bag]["predicted"],
        "probability": float(predictions.probabilities[bag, shown_class]),
        "probability_of": predictions.classes[shown_class],
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
