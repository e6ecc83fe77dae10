import json

import numpy as np
import pytest

from bagwise.errors import InputError
from bagwise.explain.geojson import read_geojson
from bagwise.explain.heatmaps import to_scale
from bagwise.runs import Run
from bagwise.showing.geojson import regions_geojson, tiles_geojson
from bagwise.showing.layers import Layers
from bagwise.showing.shown_run import ShownRun


@pytest.fixture(scope="module")
def shown(image_runs):
    return ShownRun(Run(image_runs / "attention"))


def test_the_geojson_has_every_tile_with_its_numbers(shown, tmp_path):
    layers = Layers(shown)
    (tmp_path / "tiles.geojson").write_text(json.dumps(tiles_geojson(shown, layers, 0, 1)))
    features = read_geojson(tmp_path / "tiles.geojson")
    found = {name: [feature.measurements[name] for feature in features] for name in features[0].measurements}
    np.testing.assert_array_equal(found["weight"], layers.weights(0).astype(float))
    np.testing.assert_array_equal(found["contribution"], layers.values("contribution", 0, 1))
    np.testing.assert_array_equal(found["probability"], layers.values("probability", 0, 1).astype(float))


def test_bags_without_positions_have_no_geojson(digits_run):
    shown = ShownRun(digits_run)
    with pytest.raises(InputError, match="no positions"):
        tiles_geojson(shown, Layers(shown), 0, 1)


def test_regions_cover_the_tiles_above_the_threshold_and_no_others(shown, tmp_path):
    layers = Layers(shown)
    (tmp_path / "regions.geojson").write_text(json.dumps(regions_geojson(shown, layers, 0, "weight", 1, "rank", 0.6)))
    features = read_geojson(tmp_path / "regions.geojson")
    kept = to_scale(layers.weights(0), "rank").values >= 0.6
    assert sum(feature.measurements["tiles"] for feature in features) == kept.sum()
    total = sum(feature.measurements["weight: sum"] for feature in features)
    assert total == pytest.approx(float(layers.weights(0)[kept].sum()), rel=1e-6)
