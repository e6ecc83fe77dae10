"""Colon images in five panels: the image, its patches, the epithelial ones, and heatmaps of two models.

    (d) every patch times a′, (e) every patch times s′        v′ = (v − min v)/(max v − min v)

a are the weights of the attention model, s the instance scores of Instance+max, trained apart. Both were trained on
images among which the three examples are not; these are the first positive ones of the images held out.
"""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure

from bagwise import figures
from bagwise.bags import Bags
from bagwise.datasets import load_dataset
from bagwise.datasets.colon import SIDE
from bagwise.datasets.home import locate
from bagwise.datasets.images import read_image
from bagwise.evaluation.protocol import repeated_folds
from bagwise.explain.heatmaps import painting
from bagwise.explain.heatmaps.scales import rescaled
from bagwise.files import atomic
from bagwise.paper.pictures.keeping import trained
from bagwise.paper.recipes.tissue import NETWORK
from bagwise.runs import known_labels

Rating = Callable[[Bags], np.ndarray]  # a number for each instance
EXAMPLES = 3
TITLES = ("(a) image", "(b) patches", "(c) epithelial", "(d) attention", "(e) Instance+max")


class Panels(NamedTuple):
    """The five panels of an image, each (500, 500, 3) bytes, and what the heatmaps are made of."""

    pictures: list[np.ndarray]
    weights: np.ndarray  # (n,) of the attention, as they are
    scores: np.ndarray  # (n,) of the instances, as they are


def draw_tissue(folder: Path, quick: bool) -> list[Path]:
    """One picture an example."""
    bags = load_dataset("colon-cancer")
    labels = known_labels(bags, "colon-cancer")
    split = repeated_folds(bags, labels, 10, 1, seed=1)[0]
    training = bags[split.training[:10] if quick else split.training]
    network = {**NETWORK, "epochs": 2, "most_instances": 10} if quick else NETWORK
    attention = trained(folder / "models" / "tissue-attention", training, pooling="attention", **network)
    instances = trained(folder / "models" / "tissue-instances", training, pooling="max", level="instance", **network)
    positive = [bag for bag in split.test if labels[bag] == 1][:EXAMPLES]
    return [
        _draw(folder, f"colon-example-{number}", panels(bags[[bag]], attention.weigh, instances.score_instances))
        for number, bag in enumerate(positive, start=1)
    ]


def panels(bag: Bags, weigh: Rating, score: Rating) -> Panels:
    """What is drawn of an image, by functions that give each of its instances a weight and a score."""
    assert bag.instance_labels is not None
    image = read_image(locate("colon-cancer")[_key(bag.name(0))], SIDE, SIDE)
    weights, scores = weigh(bag), score(bag)
    factors = [np.ones(len(weights)), bag.instance_labels > 0, rescaled(weights), rescaled(scores)]
    return Panels([image, *(paint(bag, factor) for factor in factors)], weights, scores)


def _key(name: str) -> str:
    return next(key for key in locate("colon-cancer") if Path(key).name == name)


def paint(bag: Bags, factors: np.ndarray) -> np.ndarray:
    """Every patch of an image times its factor, where it was cut from."""
    assert bag.positions is not None
    return painting.paint(bag.instances, bag.positions, factors, SIDE, SIDE)


def _draw(folder: Path, name: str, found: Panels) -> Path:
    with atomic(folder / f"{name}.npz") as draft, draft.open("wb") as stream:
        np.savez_compressed(stream, pictures=np.array(found.pictures), weights=found.weights, scores=found.scores)
    with figures.styled():
        figure = Figure(figsize=(15, 3.4), layout="constrained", facecolor="white")
        for axes, picture, title in zip(figure.subplots(1, len(TITLES)), found.pictures, TITLES, strict=True):
            axes.imshow(picture)
            axes.set_title(title)
            axes.set_axis_off()
        with atomic(folder / f"{name}.png") as draft:
            figure.savefig(draft, format="png", dpi=110)
    return folder / f"{name}.png"
