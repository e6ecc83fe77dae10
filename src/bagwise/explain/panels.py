"""The five panels of Ilse et al. 2018 for an image: each patch at its position, multiplied by a factor.

    (a) the image   (b) all patches   (c) the key instances   (d) the weights   (e) another model

Panel (c) is included if the key instances are known. Panel (e) is included if the probabilities of the single instances
under another model are given; in the paper that model is Instance+max.
"""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from bagwise.arguments import canonicalize_name
from bagwise.bags import Bags
from bagwise.explain.heatmaps.backgrounds import Background, open_background
from bagwise.explain.heatmaps.overlay import cut_patches, paint_patches
from bagwise.explain.heatmaps.picture_folder import DATASETS, PictureFolder
from bagwise.explain.heatmaps.scales import apply_scale
from bagwise.explain.heatmaps.window import get_tile_grid, make_window
from bagwise.io import MANIFEST
from bagwise.runs import ModelPredictions, Run

MAX_SIDE = 4096  # pixels of the longer side of an image; larger images and slides have a map, but no panels


def has_panels(background: Background) -> bool:
    """Return whether an image is small enough for panels."""
    return max(background.size) <= MAX_SIDE


def render_panels(
    bag: Bags, background: Background, weights: np.ndarray, other: Mapping[str, np.ndarray], scale: str = "paper"
) -> dict[str, np.ndarray]:
    """Render the panels of one bag.

    Parameters
    ----------
    bag : Bags
        A single bag with positions and a tile size.
    background : Background
        The image of the bag.
    weights : ndarray of shape (n_instances,)
        Weights for panel (d).
    other : mapping of str to ndarray of shape (n_instances,)
        Probability of each instance under another model, by the name of that model; may be empty.
    scale : {"paper", "raw", "rank", "log"}, default="paper"
        Scale of weights and probabilities.

    Returns
    -------
    dict of str to ndarray of shape (height, width, 3)
        The panels as uint8 images, by title.
    """
    tiles, image = get_tile_grid(bag), background.read_window(make_window(background.size, downsample=1.0))
    patches = cut_patches(image, tiles.positions, round(tiles.size))
    factors = {"(b) patches": np.ones(len(weights))}
    if bag.instance_labels is not None:
        factors["(c) key instances"] = (bag.instance_labels > 0).astype(float)
    factors["(d) weights"] = apply_scale(weights, scale).values
    factors |= {f"(e) {name}": apply_scale(values, scale).values for name, values in other.items()}
    painted = {
        title: paint_patches(patches, tiles.positions, values, *background.size) for title, values in factors.items()
    }
    return {"(a) image": image, **painted}


def find_pictures(run: Run | ModelPredictions) -> PictureFolder | None:
    """Return the images from which the bags of a run were cut.

    Parameters
    ----------
    run : Run or ModelPredictions
        A finished run.

    Returns
    -------
    PictureFolder or None
        None if the data of the run are not images.
    """
    data = run.parameters["data"]["data"]
    if data in map(canonicalize_name, DATASETS):
        return PictureFolder.of_dataset(data)
    is_images = Path(data).is_dir() and not (Path(data) / MANIFEST).exists()
    return PictureFolder.of_folder(data) if is_images else None


def open_bag_background(run: Run | ModelPredictions, bag: str, slides: Path | None = None) -> Background | None:
    """Open the image or slide of a bag.

    Parameters
    ----------
    run : Run or ModelPredictions
        A finished run.
    bag : str
        Name of the bag.
    slides : Path or None, default=None
        Folder of slides or images; None means the images that the run was trained on.

    Returns
    -------
    Background or None
        None if no folder is given and the run has no image of the bag.

    Raises
    ------
    InputError
        If a folder is given that contains no image of the bag.
    """
    if slides is not None:
        return open_background(PictureFolder.of_folder(slides).get(bag))
    own = find_pictures(run)
    path = None if own is None else own.find(bag)
    return None if path is None else open_background(path)
