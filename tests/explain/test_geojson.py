import json

import numpy as np
import pytest

from bagwise.errors import InputError
from bagwise.explain.geojson import read_geojson, to_geojson, write_geojson
from explain.rules import area, check_geojson

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


def write(folder, content):
    path = folder / "a.geojson"
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def test_read_geojson_round_trips_tiles(tmp_path):
    rng = np.random.default_rng(0)
    positions, weights = rng.integers(0, 5000, (30, 2)), rng.dirichlet(np.ones(30))
    collection = to_geojson(positions, 224, {"weight": weights}, "tumour", (1, 2, 3))
    found = read_geojson(write_geojson(tmp_path / "a.geojson", collection))
    np.testing.assert_array_equal([feature.polygons[0][0].min(axis=0) for feature in found], positions)
    np.testing.assert_array_equal([feature.polygons[0][0].max(axis=0) for feature in found], positions + 224)
    assert [feature.measurements["weight"] for feature in found] == weights.tolist()
    assert {(feature.kind, feature.class_name, feature.colour) for feature in found} == {("tile", "tumour", (1, 2, 3))}


def test_read_geojson_round_trips_regions_with_holes(tmp_path):
    ring = np.array([(x, y) for x in range(3) for y in range(3) if (x, y) != (1, 1)]) * 4
    collection = to_geojson(ring, 4, {"weight": np.ones(8)}, "tumour", merged=True)
    (found,) = read_geojson(write_geojson(tmp_path / "a.geojson", collection))
    assert found.kind == "annotation"
    (rings,) = found.polygons
    assert [[*ring.min(axis=0), *ring.max(axis=0)] for ring in rings] == [[0, 0, 12, 12], [4, 4, 8, 8]]
    assert found.measurements["weight: sum"] == 8


def test_read_geojson_reads_exports_of_qupath(tmp_path):
    for content in (QUPATH, QUPATH["features"]):
        first, second = read_geojson(write(tmp_path, content))
        assert [len(rings) for rings in first.polygons] == [2, 1]
        assert first.polygons[1][0][0].tolist() == [20.5, 0]
        assert (first.class_name, first.colour, first.measurements) == ("Tumor", (200, 0, 0), {"area": 77.5})
        assert (second.kind, second.class_name, second.colour) == ("annotation", None, None)
        assert second.measurements == {}


@pytest.mark.parametrize(
    ("geometry", "message"),
    [
        ({"type": "Point", "coordinates": [0, 0]}, "a Point, not a Polygon"),
        ({"type": "Polygon", "coordinates": [[[0, 0], [1, 0], [1, 1], [0, 1]]]}, "not closed"),
        ({"type": "Polygon", "coordinates": [[[0, 0], [1, 0], [0, 0]]]}, "at least four corners"),
        ({"type": "Polygon", "coordinates": [[[0, 0], [1, None], [1, 1], [0, 0]]]}, "finite"),
        ({"type": "Polygon"}, "coordinates"),
        (None, ""),
        ({"type": "Polygon", "coordinates": [[[0, 0], [10**400, 0], [1, 1], [0, 0]]]}, "too large"),
    ],
)
def test_read_geojson_names_a_damaged_feature(tmp_path, geometry, message):
    good, bad = QUPATH["features"][1], {"type": "Feature", "geometry": geometry, "properties": {}}
    with pytest.raises(InputError, match=rf"a\.geojson: feature 1 cannot be read .*{message}"):
        read_geojson(write(tmp_path, [good, bad]))


@pytest.mark.parametrize("content", [{}, {"features": 3}, "text", 7, None])
def test_read_geojson_rejects_other_files_by_name(tmp_path, content):
    with pytest.raises(InputError, match=r"a\.geojson is not GeoJSON with features"):
        read_geojson(write(tmp_path, content))
    (tmp_path / "cut.geojson").write_text('{"type": "Fea')
    with pytest.raises(InputError, match=r"cut\.geojson is damaged"):
        read_geojson(tmp_path / "cut.geojson")


POSITIONS = np.array([[0, 0], [256, 0], [256, 256], [2048, 512]])
WEIGHTS = np.array([0.4, 0.3, 0.05, 0.25])
CONTRIBUTIONS = np.array([1.5, -0.5, 2.0, 0.25])


def geojson(**options):
    return to_geojson(
        POSITIONS, 256, {"weight": WEIGHTS, "contribution": CONTRIBUTIONS}, "tumour", (200, 0, 10), **options
    )


@pytest.mark.parametrize("merged", [False, True])
@pytest.mark.parametrize("threshold", [None, 0.1, 0.9])
def test_to_geojson_follows_the_rules_of_rfc_7946_and_qupath(merged, threshold):
    check_geojson(geojson(merged=merged, threshold=threshold))


def test_to_geojson_of_a_tile_has_its_square_class_and_measurements():
    feature = geojson()["features"][1]
    assert feature["geometry"]["coordinates"] == [[[256, 0], [512, 0], [512, 256], [256, 256], [256, 0]]]
    assert feature["properties"] == {
        "objectType": "tile",
        "classification": {"name": "tumour", "color": [200, 0, 10]},
        "measurements": {"weight": 0.3, "contribution": -0.5},
    }


def test_to_geojson_threshold_applies_to_the_first_measurement():
    kept = geojson(threshold=0.25)["features"]
    assert [feature["properties"]["measurements"]["weight"] for feature in kept] == [0.4, 0.3, 0.25]
    assert geojson(threshold=0.9)["features"] == []


def test_to_geojson_of_a_region_summarises_its_tiles():
    first, second = geojson(merged=True)["features"]
    assert first["properties"]["objectType"] == "annotation"
    assert first["properties"]["measurements"] == {
        "tiles": 3,
        "weight: sum": pytest.approx(0.75),
        "weight: mean": pytest.approx(0.25),
        "weight: max": 0.4,
        "contribution: sum": pytest.approx(3.0),
        "contribution: mean": pytest.approx(1.0),
        "contribution: max": 2.0,
    }
    assert second["properties"]["measurements"]["weight: sum"] == 0.25
    assert area(first["geometry"]["coordinates"][0]) == 3 * 256**2
    above = geojson(merged=True, threshold=0.1)["features"]
    assert [feature["properties"]["measurements"]["tiles"] for feature in above] == [2, 1]


def test_to_geojson_keeps_fractional_tile_sizes():
    (feature,) = to_geojson(np.array([[10, 20]]), 1024.25, {}, "a")["features"]
    assert feature["geometry"]["coordinates"][0][2] == [1034.25, 1044.25]


def test_to_geojson_converts_a_numeric_class_to_text():
    assert to_geojson(POSITIONS, 256, {}, np.int64(1))["features"][0]["properties"]["classification"]["name"] == "1"


def test_write_geojson_round_trips_any_name(tmp_path):
    collection = to_geojson(POSITIONS, 256, {"=weight\n": WEIGHTS}, '<script>"é癌"', (0, 0, 0))
    path = write_geojson(tmp_path / "tiles.geojson", collection)
    assert json.loads(path.read_text(encoding="utf-8")) == collection
    assert list(tmp_path.iterdir()) == [path]


def test_to_geojson_rejects_inconsistent_input():
    with pytest.raises(InputError, match=r"measurement 'weight' has shape \(3,\) for 4 tiles"):
        to_geojson(POSITIONS, 256, {"weight": WEIGHTS[:3]}, "a")
    with pytest.raises(InputError, match="measurement 'weight' of tile 2 is not finite"):
        to_geojson(POSITIONS, 256, {"weight": np.array([1, 2, np.nan, 3])}, "a")
    with pytest.raises(InputError, match="tile_size must be positive"):
        to_geojson(POSITIONS, 0, {}, "a")
    with pytest.raises(InputError, match=r"one x, y per tile; got \(4, 1\)"):
        to_geojson(POSITIONS[:, :1], 256, {}, "a")
    with pytest.raises(InputError, match="a threshold requires at least one measurement"):
        to_geojson(POSITIONS, 256, {}, "a", threshold=0.5)
