"""The pictures of one bag: a strip of its instances, curves of deletion and insertion, panels, and maps."""

import warnings
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from bagwise import figures
from bagwise.bags import Bags
from bagwise.explain import Curve
from bagwise.files import atomic

MOST_IN_STRIP = 36
COLUMNS = 12
NARROWEST = 6.0  # inches, so that there is room for the title
DOTS = 130  # an inch


def save_strip(path: Path, bag: Bags, weights: np.ndarray, title: str) -> Path:
    """The instances of greatest weight, the greatest first, with the key ones framed."""
    chosen = np.argsort(-weights, kind="stable")[:MOST_IN_STRIP]
    key = None if bag.instance_labels is None else bag.instance_labels[chosen] > 0
    rows = -(-len(chosen) // COLUMNS)
    with figures.styled():
        wide = max(min(len(chosen), COLUMNS) * 0.9 + 0.4, NARROWEST)
        figure = Figure(figsize=(wide, rows * 1.25 + 0.5), layout="constrained")
        axes = figures.draw_bag_strip(figure.subplots(), bag.instances[chosen], weights[chosen], key, COLUMNS)
        axes.set_title(title, loc="left", parse_math=False)
        return _save(path, figure)


def save_curves(path: Path, curve: Curve, title: str) -> Path:
    """Deletion and insertion."""
    with figures.styled():
        figure = Figure(figsize=(4.4, 4.4), layout="constrained")
        axes = figures.draw_removal_curves(figure.subplots(), curve.shares, curve.deletion, curve.insertion)
        axes.set_xlabel(f"{axes.get_xlabel()}\n{title}", parse_math=False)
        return _save(path, figure)


def save_panels(path: Path, pictures: Mapping[str, np.ndarray], title: str) -> Path:
    """Pictures side by side."""
    with figures.styled():
        figure = Figure(figsize=(3 * len(pictures), 3.6), layout="constrained")
        figures.draw_panels(figure, pictures).suptitle(title, x=0.01, ha="left", parse_math=False)
        return _save(path, figure)


def _save(path: Path, figure: Figure) -> Path:
    with atomic(path) as draft, warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")  # a box is drawn instead
        figure.savefig(draft, format="png", dpi=DOTS, facecolor="white")
    return path
