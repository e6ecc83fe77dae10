"""Tiles or regions → GeoJSON (RFC 7946) in the form of QuPath 0.4 and later, which opens it by drag and drop.

Coordinates are level-0 pixels with y downwards, as QuPath has them. A tile is a "tile", a region an "annotation".
"""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from bagwise.errors import InputError
from bagwise.explain.geojson.outlines import outlines
from bagwise.files import atomic

Shape = tuple[list[Any], dict[str, Any]]  # the rings of a polygon, and its measurements
Colour = tuple[int, int, int]  # red, green and blue, from 0 to 255
VERMILLION: Colour = (213, 94, 0)
SUMMARIES: dict[str, Callable[[np.ndarray], Any]] = {"sum": np.sum, "mean": np.mean, "max": np.max}


def to_geojson(
    positions: np.ndarray,
    tile_size: float,
    measurements: Mapping[str, np.ndarray],
    class_name: object,
    colour: Colour = VERMILLION,
    threshold: float | None = None,
    merged: bool = False,
) -> dict[str, Any]:
    """A FeatureCollection of the tiles, or of the regions that they make.

    measurements : (n,) values by name; of a region their sum, mean and greatest, and the number of its tiles
    threshold : the least value, of the first measurement, of a tile that is kept; None keeps all
    merged : tiles that touch become one region
    """
    values = {name: np.asarray(of_tiles, dtype=np.float64) for name, of_tiles in measurements.items()}
    positions = np.asarray(positions, dtype=np.float64)
    _check(positions, tile_size, values)
    if threshold is not None and not values:
        raise InputError("a threshold needs a measurement to compare with; give one")
    if threshold is not None:
        kept = next(iter(values.values())) >= threshold
        positions, values = positions[kept], {name: of_tiles[kept] for name, of_tiles in values.items()}
    features = _regions(positions, tile_size, values) if merged else _tiles(positions, tile_size, values)
    kind = {
        "objectType": "annotation" if merged else "tile",
        "classification": {"name": str(class_name), "color": [*colour]},
    }
    return {
        "type": "FeatureCollection",
        "features": [
            {
                "type": "Feature",
                "geometry": {"type": "Polygon", "coordinates": rings},
                "properties": {**kind, "measurements": told},
            }
            for rings, told in features
        ],
    }


def write_geojson(path: Path, collection: dict[str, Any]) -> Path:
    """Write GeoJSON on one line: of many tiles, spaces would be most of the file."""
    with atomic(path) as draft:
        text = json.dumps(collection, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        draft.write_text(text + "\n", encoding="utf-8")
    return path


def _tiles(positions: np.ndarray, tile_size: float, values: dict[str, np.ndarray]) -> list[Shape]:
    corners = np.array([[0, 0], [1, 0], [1, 1], [0, 1], [0, 0]]) * tile_size
    rings = positions[:, None] + corners
    coordinates = (rings.astype(np.int64) if (rings == np.rint(rings)).all() else rings).tolist()
    told = {name: of_tiles.tolist() for name, of_tiles in values.items()}
    return [([ring], {name: told[name][number] for name in told}) for number, ring in enumerate(coordinates)]


def _regions(positions: np.ndarray, tile_size: float, values: dict[str, np.ndarray]) -> list[Shape]:
    return [
        (
            [[list(corner) for corner in ring] for ring in found.rings],
            {"tiles": len(found.tiles)} | _summaries({name: of[found.tiles] for name, of in values.items()}),
        )
        for found in outlines(positions, tile_size)
    ]


def _summaries(values: dict[str, np.ndarray]) -> dict[str, float]:
    return {
        f"{name}: {word}": float(summary(inside))
        for name, inside in values.items()
        for word, summary in SUMMARIES.items()
    }


def _check(positions: np.ndarray, tile_size: float, values: dict[str, np.ndarray]) -> None:
    if positions.ndim != 2 or positions.shape[1] != 2 or not np.isfinite(positions).all():
        raise InputError(f"positions have shape {positions.shape} or are not finite; give one x, y a tile")
    if not 0 < tile_size < np.inf:
        raise InputError(f"tile size is {tile_size}; give the side of a tile in level-0 pixels")
    for name, of_tiles in values.items():
        if of_tiles.shape != (len(positions),):
            raise InputError(f"measurement '{name}' has shape {of_tiles.shape} for {len(positions)} tiles")
        if not np.isfinite(of_tiles).all():
            raise InputError(f"measurement '{name}' of tile {int(np.argmin(np.isfinite(of_tiles)))} is not finite")
