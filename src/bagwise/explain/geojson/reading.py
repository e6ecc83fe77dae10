"""GeoJSON → features: what bagwise wrote, and what QuPath exports, with Polygon or MultiPolygon outlines."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bagwise.errors import InputError
from bagwise.files import read_json


class Feature(NamedTuple):
    """One object of a slide."""

    kind: str  # "tile", "annotation", "detection" …
    polygons: list[list[np.ndarray]]  # of each its rings, the outer one first; a ring is (corners, 2), closed
    class_name: str | None
    colour: tuple[int, int, int] | None
    measurements: dict[str, float]


def read_geojson(path: str | Path) -> list[Feature]:
    """The features of a FeatureCollection, or of a plain list of features, which QuPath exports too."""
    path = Path(path)
    content = read_json(path)
    features = content.get("features") if isinstance(content, dict) else content
    if not isinstance(features, list):
        raise InputError(f"{path} is not GeoJSON with features; export it from QuPath as a FeatureCollection")
    return [_feature(path, number, feature) for number, feature in enumerate(features)]


def _feature(path: Path, number: int, feature: Any) -> Feature:
    try:
        properties, geometry = feature.get("properties") or {}, feature["geometry"]
        classification = properties.get("classification") or {}
        return Feature(
            kind=str(properties.get("objectType", "annotation")),
            polygons=[[_ring(ring) for ring in rings] for rings in _polygons(geometry)],
            class_name=classification.get("name"),
            colour=_colour(classification.get("color")),
            measurements=_measurements(properties.get("measurements") or {}),
        )
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as error:
        raise InputError(f"{path}: feature {number} cannot be read ({error}); export the file again") from None


def _polygons(geometry: dict[str, Any]) -> list[Any]:
    kind = geometry["type"]
    if kind not in ("Polygon", "MultiPolygon"):
        raise ValueError(f"its geometry is a {kind}, not a Polygon or MultiPolygon")
    coordinates: list[Any] = geometry["coordinates"]
    return [coordinates] if kind == "Polygon" else coordinates


def _ring(corners: Any) -> np.ndarray:
    ring = np.array(corners, dtype=np.float64)
    if ring.ndim != 2 or ring.shape[1] != 2 or len(ring) < 4 or not np.isfinite(ring).all():
        raise ValueError("a ring needs four corners or more, each with a finite x and y")
    if (ring[0] != ring[-1]).any():
        raise ValueError("a ring is not closed")
    return ring


def _colour(value: Any) -> tuple[int, int, int] | None:
    if value is None:
        return None
    red, green, blue = (int(part) for part in value)
    return red, green, blue


def _measurements(value: Any) -> dict[str, float]:
    """By name; QuPath before 0.4 wrote a list of names and values."""
    pairs = value.items() if isinstance(value, dict) else ((each["name"], each["value"]) for each in value)
    return {str(name): float(number) for name, number in pairs}
