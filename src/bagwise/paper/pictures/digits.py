"""Bags of digits with the weight of each: negative, with a single nine, with several nines, and of 13 images."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from bagwise import figures
from bagwise.bags import Bags
from bagwise.datasets import load_dataset
from bagwise.estimators import BagClassifier
from bagwise.files import atomic
from bagwise.paper.pictures.keeping import trained
from bagwise.runs import write_table

COLUMNS = 13
KINDS: dict[str, Callable[[int, int], bool]] = {  # by the number of nines and of images
    "negative": lambda nines, size: nines == 0,
    "single nine": lambda nines, size: nines == 1,
    "several nines": lambda nines, size: nines >= 3,
    "thirteen images": lambda nines, size: nines >= 1 and size == COLUMNS,
}


def draw_digits(folder: Path, quick: bool) -> list[Path]:
    """One picture a kind of bag: the first of that kind among the test bags."""
    count, epochs = (20, 2) if quick else (200, 20)
    training = load_dataset("mnist-bags", split="train", n_bags=count)
    test = load_dataset("mnist-bags", split="test", n_bags=100)
    network = {"encoder": "lenet", "pooling": "attention", "epochs": epochs}
    model = trained(folder / "models" / "digits", training, **network)
    return [_draw(folder, kind, test[[first_bag(test, fits)]], model) for kind, fits in KINDS.items()]


def first_bag(bags: Bags, fits: Callable[[int, int], bool]) -> int:
    """The number of the first bag whose nines and size fit."""
    assert bags.instance_labels is not None
    nines = np.add.reduceat(bags.instance_labels > 0, bags.offsets[:-1])
    return next(bag for bag, found in enumerate(zip(nines, bags.sizes, strict=True)) if fits(*map(int, found)))


def _draw(folder: Path, kind: str, bag: Bags, model: BagClassifier) -> Path:
    weights, probability = model.weigh(bag), float(model.predict_proba(bag)[0, 1])
    assert bag.instance_labels is not None
    key = bag.instance_labels > 0
    name = f"digits-{kind.replace(' ', '-')}"
    write_table(
        folder / f"{name}.csv",
        (
            {"image": number, "weight": float(weight), "nine": bool(key[number])}
            for number, weight in enumerate(weights)
        ),
    )
    with figures.styled():
        rows = -(-len(weights) // COLUMNS)
        figure = Figure(figsize=(9.0, 0.4 + 0.85 * rows), layout="constrained", facecolor="white")
        axes = figures.draw_bag_strip(figure.subplots(), bag.instances, weights, key, columns=COLUMNS)
        axes.set_title(f"{kind}: probability of a nine {probability:.3f}", fontsize=9)
        with atomic(folder / f"{name}.png") as draft:
            figure.savefig(draft, format="png", dpi=150)
    return folder / f"{name}.png"
