import json

import numpy as np
import pytest

from bagwise.errors import InputError
from bagwise.explain.geojson.writing import to_geojson, write_geojson
from explain.geojson.rules import area, check_geojson

POSITIONS = np.array([[0, 0], [256, 0], [256, 256], [2048, 512]])
WEIGHTS = np.array([0.4, 0.3, 0.05, 0.25])
AGAINST = np.array([1.5, -0.5, 2.0, 0.25])


def geojson(**options):
    return to_geojson(POSITIONS, 256, {"weight": WEIGHTS, "contribution": AGAINST}, "tumour", (200, 0, 10), **options)


@pytest.mark.parametrize("merged", [False, True])
@pytest.mark.parametrize("threshold", [None, 0.1, 0.9])
def test_the_rules_are_kept(merged, threshold):
    check_geojson(geojson(merged=merged, threshold=threshold))


def test_a_tile_has_its_square_its_class_and_its_own_values():
    feature = geojson()["features"][1]
    assert feature["geometry"]["coordinates"] == [[[256, 0], [512, 0], [512, 256], [256, 256], [256, 0]]]
    assert feature["properties"] == {
        "objectType": "tile",
        "classification": {"name": "tumour", "color": [200, 0, 10]},
        "measurements": {"weight": 0.3, "contribution": -0.5},
    }


def test_the_threshold_is_of_the_first_measurement_and_keeps_what_reaches_it():
    kept = geojson(threshold=0.25)["features"]
    assert [feature["properties"]["measurements"]["weight"] for feature in kept] == [0.4, 0.3, 0.25]
    assert geojson(threshold=0.9)["features"] == []


def test_a_region_has_the_sums_of_its_own_tiles():
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


def test_tiles_of_a_broken_size_keep_it():
    (feature,) = to_geojson(np.array([[10, 20]]), 1024.25, {}, "a")["features"]
    assert feature["geometry"]["coordinates"][0][2] == [1034.25, 1044.25]


def test_a_class_that_is_a_number_has_its_name():
    assert to_geojson(POSITIONS, 256, {}, np.int64(1))["features"][0]["properties"]["classification"]["name"] == "1"


def test_the_file_is_whole_and_any_name_comes_back(tmp_path):
    collection = to_geojson(POSITIONS, 256, {"=weight\n": WEIGHTS}, '<script>"é癌"', (0, 0, 0))
    path = write_geojson(tmp_path / "tiles.geojson", collection)
    assert json.loads(path.read_text(encoding="utf-8")) == collection
    assert list(tmp_path.iterdir()) == [path]


def test_what_does_not_fit_is_refused():
    with pytest.raises(InputError, match=r"measurement 'weight' has shape \(3,\) for 4 tiles"):
        to_geojson(POSITIONS, 256, {"weight": WEIGHTS[:3]}, "a")
    with pytest.raises(InputError, match="measurement 'weight' of tile 2 is not finite"):
        to_geojson(POSITIONS, 256, {"weight": np.array([1, 2, np.nan, 3])}, "a")
    with pytest.raises(InputError, match="tile size is 0"):
        to_geojson(POSITIONS, 0, {}, "a")
    with pytest.raises(InputError, match="give one x, y a tile"):
        to_geojson(POSITIONS[:, :1], 256, {}, "a")
    with pytest.raises(InputError, match="a threshold needs a measurement"):
        to_geojson(POSITIONS, 256, {}, "a", threshold=0.5)
