"""Rules of GeoJSON (RFC 7946) and of QuPath for the files that bagwise writes."""

import itertools
import json
import math

OBJECTS = {"annotation", "cell", "detection", "root", "tile", "tmaCore"}  # object types of QuPath


def check_geojson(collection):
    """Check all rules on the GeoJSON after a round trip through text, as read by another program."""
    content = json.loads(json.dumps(collection, allow_nan=False))
    assert content.keys() == {"type", "features"}
    assert content["type"] == "FeatureCollection"
    for feature in content["features"]:
        assert feature.keys() == {"type", "geometry", "properties"}
        assert feature["type"] == "Feature"
        check_polygon(feature["geometry"])
        check_properties(feature["properties"])


def check_polygon(geometry):
    assert geometry.keys() == {"type", "coordinates"}
    assert geometry["type"] == "Polygon"
    outer, *holes = geometry["coordinates"]
    for ring in (outer, *holes):
        check_ring(ring)
    assert area(outer) > 0, "the right-hand rule: outer rings are counter-clockwise"
    assert all(area(hole) < 0 for hole in holes), "the right-hand rule: holes are clockwise"
    assert sum(map(area, (outer, *holes))) > 0


def check_ring(ring):
    assert len(ring) >= 4
    assert ring[0] == ring[-1], "a ring is closed"
    for position in ring:
        assert len(position) == 2
        assert all(isinstance(value, int | float) and math.isfinite(value) for value in position)
    corners = [tuple(position) for position in ring[:-1]]
    assert len(set(corners)) == len(corners), "a ring does not touch itself"


def check_properties(properties):
    assert properties.keys() == {"objectType", "classification", "measurements"}
    assert properties["objectType"] in OBJECTS
    assert properties["classification"].keys() == {"name", "color"}
    assert isinstance(properties["classification"]["name"], str)
    colour = properties["classification"]["color"]
    assert len(colour) == 3
    assert all(type(part) is int and 0 <= part <= 255 for part in colour)
    for name, value in properties["measurements"].items():
        assert isinstance(name, str)
        assert type(value) in (int, float)
        assert math.isfinite(value)


def area(ring):
    """Return the area by the shoelace formula; positive if counter-clockwise with x to the right and y up."""
    return sum(x * below - across * y for (x, y), (across, below) in itertools.pairwise(ring)) / 2
