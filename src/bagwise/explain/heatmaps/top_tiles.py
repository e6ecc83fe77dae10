"""The tiles of greatest value as pictures, to look at one by one: 01-0.324.png, 02-0.107.png …"""

import math
from pathlib import Path

import numpy as np

from bagwise.explain.heatmaps.drawing import save_picture
from bagwise.explain.heatmaps.grounds import Ground
from bagwise.explain.heatmaps.tiles import Tiles
from bagwise.explain.heatmaps.window import check_positions
from bagwise.files import atomic_folder
from bagwise.manifests import write_manifest
from bagwise.quantities import whole_number

KIND = "bagwise top tiles"
LARGEST = 512  # pixels of a picture's side; larger tiles are reduced


def top(values: np.ndarray, count: int) -> np.ndarray:
    """The numbers of the tiles of greatest value, the greatest first; of equal ones, the one that comes first.

    >>> top(np.array([0.1, 0.5, 0.4, 0.5]), 3).tolist()
    [1, 3, 2]
    """
    return np.argsort(-np.asarray(values, dtype=np.float64), kind="stable")[: whole_number("top tiles", count, least=1)]


def save_top_tiles(folder: Path, ground: Ground, tiles: Tiles, values: np.ndarray, count: int) -> list[Path]:
    """Write the tiles of greatest value into a folder of their own, named by rank and value; returns the files.

    A folder of top tiles that stood there is replaced; any other is not.
    """
    check_positions(tiles.positions, ground.size)
    chosen = top(values, count)
    digits = max(2, len(str(len(chosen))))
    names = [f"{rank:0{digits}}-{values[number]:.4g}.png" for rank, number in enumerate(chosen, start=1)]
    with atomic_folder(folder, KIND) as draft:
        for name, number in zip(names, chosen, strict=True):
            save_picture(draft / name, tile_picture(ground, tiles, int(number)))
        write_manifest(draft, KIND)
    return [folder / name for name in names]


def tile_picture(ground: Ground, tiles: Tiles, number: int) -> np.ndarray:
    """The pixels of a tile, of its own size as long as that is not large."""
    x, y = (round(value) for value in tiles.positions[number].tolist())
    extent = math.ceil(tiles.size)
    return ground.square(x, y, extent, min(extent, LARGEST))
