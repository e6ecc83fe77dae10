"""The telling bags of a run: the surest and the worst of each kind, with the instances that weighed most."""

from typing import NamedTuple

import numpy as np

from bagwise.bags import Bags
from bagwise.figures.pictures import data_uri, displayable, is_picture
from bagwise.summary.judged import Judged, Plain

MOST_INSTANCES = 12


class Kind(NamedTuple):
    """A kind of telling bag: those that ``belong``, the highest ``measure`` first, at most ``most`` of them."""

    name: str
    belong: np.ndarray
    measure: np.ndarray
    most: int


def telling_bags(judged: Judged, bags: Bags | None) -> list[Plain]:
    """The bags of each kind, with their pictures and truth where the data are at hand."""
    chosen = {
        kind.name: np.flatnonzero(kind.belong)[np.argsort(-kind.measure[kind.belong], kind="stable")][: kind.most]
        for kind in _kinds(judged)
    }
    shown = {int(bag): _heaviest(judged, int(bag)) for rows in chosen.values() for bag in rows}
    pictures = _pictures(bags, sorted({int(row) for rows in shown.values() for row in rows}))
    return [
        {"kind": name, "bags": [_bag(judged, bags, int(bag), shown[int(bag)], pictures) for bag in rows]}
        for name, rows in chosen.items()
    ]


def _kinds(judged: Judged) -> list[Kind]:
    """With two classes hits, misses, false alarms and rejections, by the positive class; else right and wrong."""
    right = judged.predicted == judged.targets
    if not judged.two_classes:
        surest = judged.probabilities.max(axis=1)
        return [Kind("right", right, surest, 4), Kind("wrong", ~right, surest, 4)]
    positive, probability = judged.targets == 1, judged.probabilities[:, 1]
    return [
        Kind("hits", positive & right, probability, 3),
        Kind("misses", positive & ~right, -probability, 3),
        Kind("false alarms", ~positive & ~right, probability, 3),
        Kind("rejections", ~positive & right, -probability, 2),
    ]


def _heaviest(judged: Judged, bag: int) -> np.ndarray:
    """Rows of a bag's instances of most weight, in that order."""
    start, end = judged.offsets[bag : bag + 2]
    return start + np.argsort(-judged.weights[start:end], kind="stable")[:MOST_INSTANCES]


def _pictures(bags: Bags | None, rows: list[int]) -> dict[int, str]:
    """A data URI for each of these rows, if they are images; they share one scale of brightness."""
    if bags is None or not is_picture(bags.instance_shape):
        return {}
    return {row: data_uri(image) for row, image in zip(rows, displayable(bags.instances[rows]), strict=True)}


def _bag(judged: Judged, bags: Bags | None, bag: int, rows: np.ndarray, pictures: dict[int, str]) -> Plain:
    """A bag with its heaviest instances; the probability is that of the positive class, or of the one predicted."""
    start, end = (int(row) for row in judged.offsets[bag : bag + 2])
    speaking = 1 if judged.two_classes else int(judged.predicted[bag])
    key = None if bags is None or bags.instance_labels is None else bags.instance_labels[start:end] > 0
    left_out = np.setdiff1d(np.arange(start, end), rows)
    return {
        "name": judged.rows[bag]["bag"],
        "label": judged.rows[bag]["label"],
        "predicted": judged.rows[bag]["predicted"],
        "probability": float(judged.probabilities[bag, speaking]),
        "probability_of": judged.classes[speaking],
        "n_instances": end - start,
        "instances": [
            {
                "number": int(row) - start,
                "weight": float(judged.weights[row]),
                "key": None if key is None else bool(key[row - start]),
                "picture": pictures.get(int(row)),
            }
            for row in rows
        ],
        "left_out": {
            "n_instances": len(left_out),
            "weight": float(judged.weights[left_out].sum()),
            "n_key": None if key is None else int(key[left_out - start].sum()),
        },
    }
