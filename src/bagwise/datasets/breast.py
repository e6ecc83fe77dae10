"""Breast cancer (UCSB Bio-Segmentation): 58 images of 896×768 pixels, 32 benign and 26 malignant, in 32×32 tiles.

The paper drops tiles that are 75 % white or more without saying what white is. Here it is a grey value above ``white``:
200, 215 or 230 leave 460, 489 or 512 tiles an image on average. A group is a file name's prefix (ytma10_010704): images
of one tissue block, which an honest split keeps together; the paper splits by image.
"""

import re
from pathlib import PurePosixPath

import numpy as np

from bagwise.bags import Bags
from bagwise.datasets.home import locate
from bagwise.datasets.images import read_image
from bagwise.errors import InputError
from bagwise.slides.cutting import WHITE, cut, white_share

SIZE = 32
WIDTH, HEIGHT = 896, 768
DROP = 0.75


def load(white: int = WHITE, drop: float = DROP) -> Bags:
    """Bags of RGB tiles as bytes, with positions; malignant is 1. Tiles with a share ``drop`` of white or more go."""
    if not (0 <= white <= 255 and 0 < drop <= 1):
        raise InputError(f"white is {white} and drop {drop}; give a grey value from 0 to 255 and a share up to 1")
    files = locate("breast-cancer")
    names = [PurePosixPath(key).name for key in files]
    cuts = [cut(read_image(path, WIDTH, HEIGHT), SIZE) for path in files.values()]
    kept = [white_share(tiles, white) < drop for tiles, _ in cuts]
    bare = [name for name, keep in zip(names, kept, strict=True) if not keep.any()]
    if bare:
        raise InputError(f"white {white} and drop {drop} leave {bare[0]} without a tile; raise one of them")
    return Bags.from_list(
        [tiles[keep] for (tiles, _), keep in zip(cuts, kept, strict=True)],
        labels=[_label(name) for name in names],
        names=names,
        groups=[_group(name) for name in names],
        positions=np.concatenate([positions[keep] for (_, positions), keep in zip(cuts, kept, strict=True)]),
        tile_sizes=[SIZE] * len(names),
    )


def _label(name: str) -> int:
    """0 or 1, from a file's name.

    >>> _label("ytma10_010704_malignant2_ccd")
    1
    """
    return int("malignant" in name)


def _group(name: str) -> str:
    """What stands before the label in a file's name.

    >>> _group("ytma10_010704_malignant2_ccd")
    'ytma10_010704'
    """
    return re.split("_(?:benign|malignant)", name)[0]
