"""Breast cancer (UCSB Bio-Segmentation): 58 images of 896×768 pixels, 32 benign and 26 malignant, as 32×32 tiles.

The paper drops tiles that are at least 75 % white, without defining white. Here a pixel is white if its grey value is
above ``white``: thresholds of 200, 215 and 230 keep 460, 489 and 512 tiles per image on average. The group of an image
is the prefix of its file name (ytma10_010704). Images of one group come from one tissue block, so they should be on the
same side of a split; the paper splits by image.
"""

import re
from pathlib import PurePosixPath

import numpy as np

from bagwise.bags import Bags
from bagwise.data.datasets.colon import read_image_of_size
from bagwise.data.datasets.home import locate_files
from bagwise.data.slides.image_bags import cut_tiles, measure_white
from bagwise.errors import InputError
from bagwise.nn import WHITE

IMAGE_WIDTH, IMAGE_HEIGHT = 896, 768
TILE_SIZE = 32
DROP = 0.75


def load_breast(white: int = WHITE, drop: float = DROP) -> Bags:
    """Load the breast cancer images as bags of RGB tiles (uint8) with positions and groups.

    Parameters
    ----------
    white : int, default=215
        Grey value, from 0 to 255, above which a pixel counts as white.
    drop : float, default=0.75
        Tiles with at least this share of white pixels are dropped.

    Returns
    -------
    Bags
        One bag per image; malignant images have label 1.
    """
    if not (0 <= white <= 255 and 0 < drop <= 1):
        raise InputError(
            f"white must be a grey value from 0 to 255 and drop a share above 0 and up to 1, got white={white} and "
            f"drop={drop}"
        )
    files = locate_files("breast-cancer")
    names = [PurePosixPath(key).name for key in files]
    cuts = [cut_tiles(read_image_of_size(path, IMAGE_WIDTH, IMAGE_HEIGHT), TILE_SIZE) for path in files.values()]
    kept = [measure_white(tiles, white) < drop for tiles, _ in cuts]
    empty = [name for name, keep in zip(names, kept, strict=True) if not keep.any()]
    if empty:
        raise InputError(f"white={white} and drop={drop} leave {empty[0]} without a tile; raise one of them")
    return Bags.from_list(
        [tiles[keep] for (tiles, _), keep in zip(cuts, kept, strict=True)],
        labels=[_get_label(name) for name in names],
        names=names,
        groups=[_get_group(name) for name in names],
        positions=np.concatenate([positions[keep] for (_, positions), keep in zip(cuts, kept, strict=True)]),
        tile_sizes=[TILE_SIZE] * len(names),
    )


def _get_label(name: str) -> int:
    """Return the label of an image, 0 (benign) or 1 (malignant), from its file name.

    >>> _get_label("ytma10_010704_malignant2_ccd")
    1
    """
    return int("malignant" in name)


def _get_group(name: str) -> str:
    """Return the part of a file name before the label.

    >>> _get_group("ytma10_010704_malignant2_ccd")
    'ytma10_010704'
    """
    return re.split("_(?:benign|malignant)", name)[0]
