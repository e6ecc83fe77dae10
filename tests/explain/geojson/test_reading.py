import json

import numpy as np
import pytest

from bagwise.errors import InputError
from bagwise.explain.geojson.reading import read_geojson
from bagwise.explain.geojson.writing import to_geojson, write_geojson

QUPATH = {
    "type": "FeatureCollection",
    "features": [
        {
            "type": "Feature",
            "id": "0b2a6c4e-6f0d-4f8e-9d61-0c3c1f3f8b11",
            "geometry": {
                "type": "MultiPolygon",
                "coordinates": [
                    [[[0, 0], [9, 0], [9, 9], [0, 9], [0, 0]], [[3, 3], [3, 5], [5, 5], [5, 3], [3, 3]]],
                    [[[20.5, 0], [29, 0], [29, 9], [20.5, 0]]],
                ],
            },
            "properties": {
                "objectType": "annotation",
                "classification": {"name": "Tumor", "color": [200, 0, 0]},
                "isLocked": True,
                "measurements": [{"name": "area", "value": 77.5}],
            },
        },
        {
            "type": "Feature",
            "geometry": {"type": "Polygon", "coordinates": [[[0, 0], [1, 0], [1, 1], [0, 0]]]},
            "properties": {},
        },
    ],
}


def written(folder, content):
    path = folder / "a.geojson"
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def test_tiles_come_back_as_they_were(tmp_path):
    draws = np.random.default_rng(0)
    positions, weights = draws.integers(0, 5000, (30, 2)), draws.dirichlet(np.ones(30))
    collection = to_geojson(positions, 224, {"weight": weights}, "tumour", (1, 2, 3))
    found = read_geojson(write_geojson(tmp_path / "a.geojson", collection))
    np.testing.assert_array_equal([feature.polygons[0][0].min(axis=0) for feature in found], positions)
    np.testing.assert_array_equal([feature.polygons[0][0].max(axis=0) for feature in found], positions + 224)
    assert [feature.measurements["weight"] for feature in found] == weights.tolist()
    assert {(feature.kind, feature.class_name, feature.colour) for feature in found} == {("tile", "tumour", (1, 2, 3))}


def test_regions_come_back_with_their_holes(tmp_path):
    ring = np.array([(x, y) for x in range(3) for y in range(3) if (x, y) != (1, 1)]) * 4
    collection = to_geojson(ring, 4, {"weight": np.ones(8)}, "tumour", merged=True)
    (found,) = read_geojson(write_geojson(tmp_path / "a.geojson", collection))
    assert found.kind == "annotation"
    (rings,) = found.polygons
    assert [[*ring.min(axis=0), *ring.max(axis=0)] for ring in rings] == [[0, 0, 12, 12], [4, 4, 8, 8]]
    assert found.measurements["weight: sum"] == 8


def test_what_qupath_exports_is_read(tmp_path):
    for content in (QUPATH, QUPATH["features"]):
        first, second = read_geojson(written(tmp_path, content))
        assert [len(rings) for rings in first.polygons] == [2, 1]
        assert first.polygons[1][0][0].tolist() == [20.5, 0]
        assert (first.class_name, first.colour, first.measurements) == ("Tumor", (200, 0, 0), {"area": 77.5})
        assert (second.kind, second.class_name, second.colour) == ("annotation", None, None)
        assert second.measurements == {}


@pytest.mark.parametrize(
    ("geometry", "what"),
    [
        ({"type": "Point", "coordinates": [0, 0]}, "a Point, not a Polygon"),
        ({"type": "Polygon", "coordinates": [[[0, 0], [1, 0], [1, 1], [0, 1]]]}, "not closed"),
        ({"type": "Polygon", "coordinates": [[[0, 0], [1, 0], [0, 0]]]}, "four corners"),
        ({"type": "Polygon", "coordinates": [[[0, 0], [1, None], [1, 1], [0, 0]]]}, "finite"),
        ({"type": "Polygon"}, "coordinates"),
        (None, ""),
        ({"type": "Polygon", "coordinates": [[[0, 0], [10**400, 0], [1, 1], [0, 0]]]}, "too large"),
    ],
)
def test_a_damaged_feature_is_named(tmp_path, geometry, what):
    good, bad = QUPATH["features"][1], {"type": "Feature", "geometry": geometry, "properties": {}}
    with pytest.raises(InputError, match=rf"a\.geojson: feature 1 cannot be read .*{what}"):
        read_geojson(written(tmp_path, [good, bad]))


@pytest.mark.parametrize("content", [{}, {"features": 3}, "words", 7, None])
def test_what_is_no_geojson_is_refused(tmp_path, content):
    with pytest.raises(InputError, match=r"a\.geojson is not GeoJSON with features"):
        read_geojson(written(tmp_path, content))
    (tmp_path / "cut.geojson").write_text('{"type": "Fea')
    with pytest.raises(InputError, match=r"cut\.geojson is damaged"):
        read_geojson(tmp_path / "cut.geojson")
