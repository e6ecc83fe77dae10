"""GeoJSON (RFC 7946) of tiles and regions, as used by QuPath 0.4 and later, which opens it by drag and drop.

Coordinates are level-0 pixels with y pointing down, as in QuPath. A tile has the object type "tile", a region has
"annotation". Files written by bagwise or exported by QuPath can be read; outlines are Polygon or MultiPolygon.
"""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bagwise.errors import InputError
from bagwise.explain.outlines import trace_outlines
from bagwise.io import read_json, write_atomically

Colour = tuple[int, int, int]  # red, green and blue, from 0 to 255
VERMILLION: Colour = (213, 94, 0)
SUMMARIES: dict[str, Callable[[np.ndarray], Any]] = {"sum": np.sum, "mean": np.mean, "max": np.max}


class Feature(NamedTuple):
    """One object of a slide.

    Attributes
    ----------
    kind : str
        QuPath's object type: "tile", "annotation", "detection", …
    polygons : list of list of ndarray
        The rings of each polygon, the outer ring first. A ring has shape (n_corners, 2), and its last corner is equal
        to the first.
    class_name : str or None
        Name of the classification.
    colour : tuple of int or None
        Red, green and blue of the classification, from 0 to 255.
    measurements : dict of str to float
        Measurements by name.
    """

    kind: str
    polygons: list[list[np.ndarray]]
    class_name: str | None
    colour: Colour | None
    measurements: dict[str, float]


class _Shape(NamedTuple):
    """A polygon to write."""

    rings: list[Any]
    measurements: dict[str, Any]


def to_geojson(
    positions: np.ndarray,
    tile_size: float,
    measurements: Mapping[str, np.ndarray],
    class_name: object,
    colour: Colour = VERMILLION,
    threshold: float | None = None,
    merged: bool = False,
) -> dict[str, Any]:
    """Convert tiles, or the regions that they form, to a FeatureCollection.

    Parameters
    ----------
    positions : ndarray of shape (n_tiles, 2)
        x and y of the upper left corner of each tile, in level-0 pixels.
    tile_size : float
        Side of a tile in level-0 pixels.
    measurements : mapping of str to ndarray of shape (n_tiles,)
        Values by name. For a region, their sum, mean and maximum and the number of tiles are written.
    class_name : object
        Name of the classification.
    colour : tuple of int, default=(213, 94, 0)
        Red, green and blue of the classification, from 0 to 255.
    threshold : float or None, default=None
        Tiles whose first measurement is below this value are left out; None keeps all tiles.
    merged : bool, default=False
        Whether to merge adjacent tiles into regions.

    Returns
    -------
    dict
        The FeatureCollection.

    Raises
    ------
    InputError
        If shapes do not match, a value is not finite, or a threshold is given without a measurement.
    """
    arrays = {name: np.asarray(values, dtype=np.float64) for name, values in measurements.items()}
    positions = np.asarray(positions, dtype=np.float64)
    _check_tiles(positions, tile_size, arrays)
    if threshold is not None and not arrays:
        raise InputError("a threshold requires at least one measurement, got none")
    if threshold is not None:
        kept = next(iter(arrays.values())) >= threshold
        positions, arrays = positions[kept], {name: values[kept] for name, values in arrays.items()}
    shapes = _make_regions(positions, tile_size, arrays) if merged else _make_tiles(positions, tile_size, arrays)
    properties = {
        "objectType": "annotation" if merged else "tile",
        "classification": {"name": str(class_name), "color": [*colour]},
    }
    return {
        "type": "FeatureCollection",
        "features": [
            {
                "type": "Feature",
                "geometry": {"type": "Polygon", "coordinates": shape.rings},
                "properties": {**properties, "measurements": shape.measurements},
            }
            for shape in shapes
        ],
    }


def write_geojson(path: Path, collection: dict[str, Any]) -> Path:
    """Write GeoJSON without indentation, which would be most of a file with many tiles.

    Parameters
    ----------
    path : Path
        File to write.
    collection : dict
        The FeatureCollection.

    Returns
    -------
    Path
        The file written.
    """
    with write_atomically(path) as temporary:
        text = json.dumps(collection, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        temporary.write_text(text + "\n", encoding="utf-8")
    return path


def read_geojson(path: str | Path) -> list[Feature]:
    """Read the features of a FeatureCollection, or of a plain list of features, which QuPath also exports.

    Parameters
    ----------
    path : str or Path
        File to read.

    Returns
    -------
    list of Feature
        The features, in the order of the file.

    Raises
    ------
    InputError
        If the file is not GeoJSON, or a feature cannot be read.
    """
    path = Path(path)
    content = read_json(path)
    features = content.get("features") if isinstance(content, dict) else content
    if not isinstance(features, list):
        raise InputError(f"{path} is not GeoJSON with features; export it from QuPath as a FeatureCollection")
    return [_parse_feature(path, number, feature) for number, feature in enumerate(features)]


def _check_tiles(positions: np.ndarray, tile_size: float, arrays: dict[str, np.ndarray]) -> None:
    if positions.ndim != 2 or positions.shape[1] != 2 or not np.isfinite(positions).all():
        raise InputError(f"positions must be finite with shape (n_tiles, 2), one x, y per tile; got {positions.shape}")
    if not 0 < tile_size < np.inf:
        raise InputError(f"tile_size must be positive, the side of a tile in level-0 pixels; got {tile_size}")
    for name, values in arrays.items():
        if values.shape != (len(positions),):
            raise InputError(f"measurement '{name}' has shape {values.shape} for {len(positions)} tiles")
        if not np.isfinite(values).all():
            raise InputError(f"measurement '{name}' of tile {int(np.argmin(np.isfinite(values)))} is not finite")


def _make_tiles(positions: np.ndarray, tile_size: float, arrays: dict[str, np.ndarray]) -> list[_Shape]:
    corners = np.array([[0, 0], [1, 0], [1, 1], [0, 1], [0, 0]]) * tile_size
    rings = positions[:, None] + corners
    coordinates = (rings.astype(np.int64) if (rings == np.rint(rings)).all() else rings).tolist()
    columns = {name: values.tolist() for name, values in arrays.items()}
    return [
        _Shape([ring], {name: column[number] for name, column in columns.items()})
        for number, ring in enumerate(coordinates)
    ]


def _make_regions(positions: np.ndarray, tile_size: float, arrays: dict[str, np.ndarray]) -> list[_Shape]:
    return [
        _Shape(
            [[list(corner) for corner in ring] for ring in outline.rings],
            {"tiles": len(outline.tiles)}
            | _summarise({name: values[outline.tiles] for name, values in arrays.items()}),
        )
        for outline in trace_outlines(positions, tile_size)
    ]


def _summarise(arrays: dict[str, np.ndarray]) -> dict[str, float]:
    return {
        f"{name}: {statistic}": float(function(values))
        for name, values in arrays.items()
        for statistic, function in SUMMARIES.items()
    }


def _parse_feature(path: Path, number: int, feature: Any) -> Feature:
    try:
        properties, geometry = feature.get("properties") or {}, feature["geometry"]
        classification = properties.get("classification") or {}
        return Feature(
            kind=str(properties.get("objectType", "annotation")),
            polygons=[[_parse_ring(ring) for ring in rings] for rings in _get_polygons(geometry)],
            class_name=classification.get("name"),
            colour=_parse_colour(classification.get("color")),
            measurements=_parse_measurements(properties.get("measurements") or {}),
        )
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as error:
        raise InputError(f"{path}: feature {number} cannot be read ({error}); export the file again") from None


def _get_polygons(geometry: dict[str, Any]) -> list[Any]:
    kind = geometry["type"]
    if kind not in ("Polygon", "MultiPolygon"):
        raise ValueError(f"its geometry is a {kind}, not a Polygon or MultiPolygon")
    coordinates: list[Any] = geometry["coordinates"]
    return [coordinates] if kind == "Polygon" else coordinates


def _parse_ring(corners: Any) -> np.ndarray:
    ring = np.array(corners, dtype=np.float64)
    if ring.ndim != 2 or ring.shape[1] != 2 or len(ring) < 4 or not np.isfinite(ring).all():
        raise ValueError("a ring must have at least four corners, each with a finite x and y")
    if (ring[0] != ring[-1]).any():
        raise ValueError("a ring is not closed")
    return ring


def _parse_colour(value: Any) -> Colour | None:
    if value is None:
        return None
    red, green, blue = (int(part) for part in value)
    return red, green, blue


def _parse_measurements(value: Any) -> dict[str, float]:
    """Return measurements by name; QuPath before 0.4 wrote a list of names and values."""
    pairs = value.items() if isinstance(value, dict) else ((each["name"], each["value"]) for each in value)
    return {str(name): float(number) for name, number in pairs}
