"""Colon images in five panels: the image, its patches, the epithelial ones, and heatmaps of two models.

    (d) every patch times a′, (e) every patch times p′        v′ = (v − min v)/(max v − min v)

a are the weights of the attention model, p the probabilities of single patches by Instance+max, trained apart. Both
were trained on images among which the three examples are not; these are the first positive ones of the images held out.
"""

from pathlib import Path

import numpy as np

from bagwise.bags import Bags
from bagwise.datasets import load_dataset
from bagwise.estimators import BagClassifier
from bagwise.evaluation.protocol import repeated_folds
from bagwise.explain.heatmaps import Pictures, open_ground
from bagwise.files import atomic
from bagwise.paper.pictures.keeping import trained
from bagwise.paper.recipes.tissue import network
from bagwise.runs import known_labels
from bagwise.showing.bag_pictures import save_panels
from bagwise.showing.layers import judge_alone
from bagwise.showing.panels import panels

DATA = "colon-cancer"
EXAMPLES = 3
TITLES = ("(a) image", "(b) patches", "(c) epithelial", "(d) attention", "(e) Instance+max")


def draw_tissue(folder: Path, quick: bool) -> list[Path]:
    """One picture an example."""
    bags = load_dataset(DATA)
    labels = known_labels(bags, DATA)
    split = repeated_folds(bags, labels, 10, 1, seed=1)[0]
    training = bags[split.training[:10] if quick else split.training]
    shared = network(quick)
    attention = trained(folder / "models" / "tissue-attention", training, pooling="attention", **shared)
    instances = trained(folder / "models" / "tissue-instances", training, pooling="max", level="instance", **shared)
    positive = [bag for bag in split.test if labels[bag] == 1][:EXAMPLES]
    return [
        draw_example(folder, f"colon-example-{number}", bags[[bag]], attention, instances)
        for number, bag in enumerate(positive, start=1)
    ]


def draw_example(folder: Path, name: str, bag: Bags, attention: BagClassifier, instances: BagClassifier) -> Path:
    """The panels of an image as a picture, and what they are made of as arrays."""
    weights, chances = attention.weigh(bag), judge_alone(instances, bag)[:, 1]
    with open_ground(Pictures.of_dataset(DATA).get(bag.name(0))) as ground:
        found = panels(bag, ground, weights, {"Instance+max": chances})
    with atomic(folder / f"{name}.npz") as draft, draft.open("wb") as stream:
        np.savez_compressed(stream, pictures=np.array(list(found.values())), weights=weights, probabilities=chances)
    return save_panels(folder / f"{name}.png", dict(zip(TITLES, found.values(), strict=True)), bag.name(0))
