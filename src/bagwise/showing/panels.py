"""An image in the five panels of the paper, each patch where it was cut from, times a factor.

    (a) the image   (b) every patch   (c) the key instances   (d) the weights   (e) by another model

(c) is there where key instances are known, (e) where the instances' own probabilities by another model are given; in
the paper it is Instance+max.
"""

from collections.abc import Mapping

import numpy as np

from bagwise.bags import Bags
from bagwise.explain.heatmaps import Ground, cut_patches, paint, tiles_of, to_scale, window_of

LARGEST = 4096  # pixels of an image's longer side; slides are shown as maps


def has_panels(ground: Ground) -> bool:
    """Whether a picture is small enough to be painted patch by patch."""
    return max(ground.size) <= LARGEST


def panels(
    bag: Bags, ground: Ground, weights: np.ndarray, other: Mapping[str, np.ndarray], scale: str = "paper"
) -> dict[str, np.ndarray]:
    """The pictures by their titles, (height, width, 3) bytes each.

    other : (n,) the probability of each instance by another model, by that model's name; or none
    """
    tiles, image = tiles_of(bag), ground.read(window_of(ground.size, downsample=1.0))
    patches = cut_patches(image, tiles.positions, round(tiles.size))
    factors = {"(b) patches": np.ones(len(weights))}
    if bag.instance_labels is not None:
        factors["(c) key instances"] = (bag.instance_labels > 0).astype(float)
    factors["(d) weights"] = to_scale(weights, scale).values
    factors |= {f"(e) {name}": to_scale(values, scale).values for name, values in other.items()}
    painted = {name: paint(patches, tiles.positions, values, *ground.size) for name, values in factors.items()}
    return {"(a) image": image, **painted}
