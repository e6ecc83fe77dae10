"""The figures of the paper: bags of digits with the weight of each digit, and heatmaps of colon images.

Bags of digits: a negative bag, one with a single nine, one with several nines, and one of 13 images.

Colon images in five panels: the image, its patches, the epithelial patches, and heatmaps of two models:

    (d) every patch times a′, (e) every patch times p′        v′ = (v − min v)/(max v − min v)

where a are the weights of the attention model, and p are the probabilities that Instance+max, which is trained
separately, predicts for single patches. The examples are the first three positive images of a held-out fold.

Models are trained once and saved next to the figures, together with the data of every figure. Bags are selected by
their labels and sizes, never by the quality of their predictions.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from bagwise.bags import Bags
from bagwise.data import get_labels
from bagwise.data.datasets import load_dataset
from bagwise.estimators import BagClassifier, get_preset
from bagwise.evaluation import make_repeated_folds
from bagwise.explain import render_panels, save_panels
from bagwise.explain.heatmaps import PictureFolder, open_background
from bagwise.figures import plot_bag_strip, use_style
from bagwise.io import write_atomically, write_csv
from bagwise.paper.recipes import make_tissue_network

DIGITS_PER_ROW = 13
DIGIT_BAGS: dict[str, Callable[[int, int], bool]] = {  # conditions on the numbers of nines and of images
    "negative": lambda nines, size: nines == 0,
    "single nine": lambda nines, size: nines == 1,
    "several nines": lambda nines, size: nines >= 3,
    "thirteen images": lambda nines, size: nines >= 1 and size == 13,
}

TISSUE_DATA = "colon-cancer"
N_TISSUE_EXAMPLES = 3
TISSUE_TITLES = ("(a) image", "(b) patches", "(c) epithelial", "(d) attention", "(e) Instance+max")


def plot_paper_figures(
    folder: str | Path, *, quick: bool = False, progress: Callable[[int, int], None] = lambda done, of: None
) -> list[Path]:
    """Plot all figures into a folder.

    Parameters
    ----------
    folder : str or Path
        Folder to write to; models that are saved in it are used again.
    quick : bool, default=False
        Train for two epochs only, on fewer bags, to try the command.
    progress : callable, optional
        Called as ``progress(done, total)`` before the first and after each of the groups of figures.

    Returns
    -------
    list of Path
        The written PNG files.
    """
    paths: list[Path] = []
    parts = (plot_digit_bags, plot_tissue_images)
    for number, plot in enumerate(parts):
        progress(number, len(parts))
        paths += plot(Path(folder), quick)
    progress(len(parts), len(parts))
    return paths


def load_or_train(path: Path, bags: Bags, **parameters: Any) -> BagClassifier:
    """Load the model from ``path`` if it has these parameters; otherwise, train it on ``bags`` and save it there."""
    model = BagClassifier(random_state=0, **{**get_preset("paper"), **parameters})
    if path.exists():
        saved = BagClassifier.load(path)
        if saved.get_params() == model.get_params():
            return saved
    model.fit(bags, bags.labels)
    model.save(path)
    return model


def plot_digit_bags(folder: Path, quick: bool) -> list[Path]:
    """Plot the first test bag of each kind."""
    n_bags, epochs = (20, 2) if quick else (200, 20)
    training = load_dataset("mnist-bags", split="train", n_bags=n_bags)
    test = load_dataset("mnist-bags", split="test", n_bags=100)
    network = {"encoder": "lenet", "pooling": "attention", "epochs": epochs}
    model = load_or_train(folder / "models" / "digits", training, **network)
    return [
        _plot_digit_bag(folder, kind, test[[find_first_bag(test, matches)]], model)
        for kind, matches in DIGIT_BAGS.items()
    ]


def find_first_bag(bags: Bags, matches: Callable[[int, int], bool]) -> int:
    """Return the index of the first bag whose numbers of nines and of images match."""
    assert bags.instance_labels is not None
    nines = np.add.reduceat(bags.instance_labels > 0, bags.offsets[:-1])
    counts = zip(nines, bags.sizes, strict=True)
    return next(bag for bag, (n_nines, size) in enumerate(counts) if matches(int(n_nines), int(size)))


def _plot_digit_bag(folder: Path, kind: str, bag: Bags, model: BagClassifier) -> Path:
    weights, probability = model.weigh(bag), float(model.predict_proba(bag)[0, 1])
    assert bag.instance_labels is not None
    is_nine = bag.instance_labels > 0
    name = f"digits-{kind.replace(' ', '-')}"
    write_csv(
        folder / f"{name}.csv",
        (
            {"image": number, "weight": float(weight), "nine": bool(is_nine[number])}
            for number, weight in enumerate(weights)
        ),
    )
    with use_style():
        n_rows = -(-len(weights) // DIGITS_PER_ROW)
        figure = Figure(figsize=(9.0, 0.4 + 0.85 * n_rows), layout="constrained", facecolor="white")
        axes = plot_bag_strip(figure.subplots(), bag.instances, weights, is_nine, columns=DIGITS_PER_ROW)
        axes.set_title(f"{kind}: probability of a nine {probability:.3f}", fontsize=9)
        with write_atomically(folder / f"{name}.png") as temporary:
            figure.savefig(temporary, format="png", dpi=150)
    return folder / f"{name}.png"


def plot_tissue_images(folder: Path, quick: bool) -> list[Path]:
    """Plot one figure per example image."""
    bags = load_dataset(TISSUE_DATA)
    labels = get_labels(bags, TISSUE_DATA)
    split = make_repeated_folds(bags, labels, 10, 1, seed=1)[0]
    training = bags[split.training[:10] if quick else split.training]
    network = make_tissue_network(quick)
    attention = load_or_train(folder / "models" / "tissue-attention", training, pooling="attention", **network)
    instances = load_or_train(
        folder / "models" / "tissue-instances", training, pooling="max", level="instance", **network
    )
    positive = [bag for bag in split.test if labels[bag] == 1][:N_TISSUE_EXAMPLES]
    return [
        plot_tissue_example(folder, f"colon-example-{number}", bags[[bag]], attention, instances)
        for number, bag in enumerate(positive, start=1)
    ]


def plot_tissue_example(folder: Path, name: str, bag: Bags, attention: BagClassifier, instances: BagClassifier) -> Path:
    """Plot the panels of an image and save their data."""
    weights, probabilities = attention.weigh(bag), instances.predict_proba(bag.singletons())[:, 1]
    with open_background(PictureFolder.of_dataset(TISSUE_DATA).get(bag.name(0))) as background:
        panels = render_panels(bag, background, weights, {"Instance+max": probabilities})
    with write_atomically(folder / f"{name}.npz") as temporary, temporary.open("wb") as stream:
        np.savez_compressed(
            stream, pictures=np.array(list(panels.values())), weights=weights, probabilities=probabilities
        )
    titled_panels = dict(zip(TISSUE_TITLES, panels.values(), strict=True))
    return save_panels(folder / f"{name}.png", titled_panels, bag.name(0))
