import json

import numpy as np
import pytest
from PIL import Image

from bagwise.bags.bags import Bags
from bagwise.errors import InputError
from bagwise.estimators.base import BagEstimator
from bagwise.explain.bag_files import (
    MAX_IN_STRIP,
    make_instance_rows,
    regions_to_geojson,
    save_curves,
    save_panels,
    save_strip,
    tiles_to_geojson,
)
from bagwise.explain.deletion import DeletionCurves
from bagwise.explain.explanation import explain_bags
from bagwise.explain.geojson import read_geojson
from bagwise.explain.heatmaps.scales import apply_scale
from bagwise.explain.layers import BagLayers
from bagwise.runs.open_run import OpenRun
from bagwise.runs.run import Run
from bagwise.targets.classes import ClassTarget


def test_make_instance_rows_round_trip_to_the_same_bits(image_runs):
    run = Run(image_runs / "attention")
    open_run, bags = OpenRun(run), run.test_bags()
    rows = make_instance_rows(open_run, BagLayers(open_run), 1)
    expected = explain_bags(BagEstimator.load(run.folder / "model"), bags[[1]])
    weights = run.weights[run.offsets[1] : run.offsets[2]]
    np.testing.assert_array_equal([float(row["weight"]) for row in rows], weights.astype(float))
    for number, label in enumerate(output.title for output in run.target.outputs):
        found = [float(row[f"contribution {label}"]) for row in rows]
        np.testing.assert_array_equal(found, expected.contributions[:, number])
    np.testing.assert_array_equal([(row["x"], row["y"]) for row in rows], bags[[1]].positions)
    assert {row["bag"] for row in rows} == {bags.name(1)}
    assert [row["instance"] for row in rows] == [*range(len(weights))]
    assert "key" not in rows[0]


def test_make_instance_rows_has_key_labels_and_positions_only_if_known(digits_run):
    open_run, bags = OpenRun(digits_run), digits_run.test_bags()
    rows = make_instance_rows(open_run, BagLayers(open_run), 0)
    assert [row["key"] for row in rows] == (bags[[0]].instance_labels > 0).astype(int).tolist()
    assert "x" not in rows[0]


@pytest.fixture(scope="module")
def open_run(image_runs):
    return OpenRun(Run(image_runs / "attention"))


def test_tiles_to_geojson_has_every_tile_with_its_measurements(open_run, tmp_path):
    layers = BagLayers(open_run)
    (tmp_path / "tiles.geojson").write_text(json.dumps(tiles_to_geojson(open_run, layers, 0, 1)))
    features = read_geojson(tmp_path / "tiles.geojson")
    found = {name: [feature.measurements[name] for feature in features] for name in features[0].measurements}
    np.testing.assert_array_equal(found["weight"], layers.weights(0).astype(float))
    np.testing.assert_array_equal(found["contribution"], layers.values("contribution", 0, 1))
    np.testing.assert_array_equal(found["probability"], layers.values("probability", 0, 1).astype(float))


def test_tiles_to_geojson_rejects_bags_without_positions(digits_run):
    open_run = OpenRun(digits_run)
    with pytest.raises(InputError, match="no positions"):
        tiles_to_geojson(open_run, BagLayers(open_run), 0, 1)


def test_regions_to_geojson_covers_exactly_the_tiles_above_the_threshold(open_run, tmp_path):
    layers = BagLayers(open_run)
    (tmp_path / "regions.geojson").write_text(
        json.dumps(
            regions_to_geojson(open_run, layers, 0, layer="weight", output_number=1, scale="rank", threshold=0.6)
        )
    )
    features = read_geojson(tmp_path / "regions.geojson")
    kept = apply_scale(layers.weights(0), "rank").values >= 0.6
    assert sum(feature.measurements["tiles"] for feature in features) == kept.sum()
    total = sum(feature.measurements["weight: sum"] for feature in features)
    assert total == pytest.approx(float(layers.weights(0)[kept].sum()), rel=1e-6)


OUTPUT = ClassTarget.unnamed(2).outputs[1]
CURVES = DeletionCurves(
    shares=np.array([0, 0.5, 1]),
    deletion=np.array([0.9, 0.4, 0.5]),
    insertion=np.array([0.5, 0.7, 0.9]),
    deletion_area=0.5,
    insertion_area=0.7,
)


def read_pixels(path):
    with Image.open(path) as image:
        assert image.format == "PNG"
        return np.asarray(image.convert("RGB"))


def make_digits_bag(count, key=None):
    instances = np.random.default_rng(1).random((count, 8, 8))
    return Bags(instances, np.array([0, count]), instance_labels=key)


def test_save_strip_frames_key_instances(tmp_path):
    weights = np.array([0.7, 0.2, 0.1])
    plain = read_pixels(save_strip(tmp_path / "a.png", make_digits_bag(3, np.zeros(3)), weights, "a $bag$"))
    framed = read_pixels(save_strip(tmp_path / "b.png", make_digits_bag(3, np.array([0, 1, 0])), weights, "a $bag$"))
    orange = (np.abs(framed.astype(int) - [213, 94, 0]) < 30).all(axis=2)
    assert orange.sum() > 100
    assert not (np.abs(plain.astype(int) - [213, 94, 0]) < 30).all(axis=2).any()


def test_save_strip_limits_the_number_of_instances(tmp_path):
    weights = np.linspace(0, 1, 500)
    large = read_pixels(save_strip(tmp_path / "large.png", make_digits_bag(500), weights / weights.sum(), "large"))
    few = read_pixels(
        save_strip(tmp_path / "few.png", make_digits_bag(MAX_IN_STRIP), np.full(MAX_IN_STRIP, 1.0), "few")
    )
    assert large.shape == few.shape


@pytest.mark.parametrize("title", ["plain", "with $dollars$ and <tags>"])
def test_save_curves_and_save_panels_write_pictures_on_white(tmp_path, title):
    assert (read_pixels(save_curves(tmp_path / "curves.png", CURVES, OUTPUT, title))[0] == 255).all()
    panels = {"(a)": np.zeros((4, 4, 3), np.uint8), "(b)": np.full((4, 4, 3), 200, np.uint8)}
    found = read_pixels(save_panels(tmp_path / "panels.png", panels, title))
    assert (found == 200).all(axis=2).sum() > 10_000
