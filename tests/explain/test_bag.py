import csv
import json

import numpy as np
import pytest
from PIL import Image

from bagwise.errors import InputError
from bagwise.estimators.base import BagEstimator
from bagwise.explain.bag import ExplanationSettings, ReferenceModel, write_explanation
from bagwise.explain.explanation import explain_bags
from bagwise.explain.geojson import read_geojson
from bagwise.explain.heatmaps.map import MapStyle
from bagwise.explain.layers import BagLayers
from bagwise.explain.panels import open_bag_background
from bagwise.io.manifest import find_damage
from bagwise.runs.open_run import OpenRun
from bagwise.runs.run import Run

ARRAYS = {"weights.npy", "contributions.npy", "probabilities.npy"}
ALWAYS = {"explanation.json", "instances.csv", "strip.png", "curves.png", "manifest.json", *ARRAYS}
WITH_PICTURE = {"map.png", "panels.png", "tiles.geojson", "regions.geojson"}


@pytest.fixture(scope="module")
def open_run(image_runs):
    return OpenRun(Run(image_runs / "attention"))


@pytest.fixture(scope="module")
def reference(image_runs):
    return ReferenceModel("instances", BagEstimator.load(image_runs / "instances" / "model"))


def write(folder, open_run, bag, settings, background=None):
    return write_explanation(folder, open_run, BagLayers(open_run), bag, background, settings)


def test_write_explanation_of_an_image_writes_every_file(open_run, reference, tmp_path):
    settings = ExplanationSettings(
        layer="contribution", output_number=0, style=MapStyle(scale="raw", threshold=0.3), top=3, beside=reference
    )
    with open_bag_background(open_run.run, open_run.run.predictions[1]["bag"]) as background:
        names = write(tmp_path / "out", open_run, 1, settings, background)
    assert set(names) >= ALWAYS | WITH_PICTURE
    assert len(list((tmp_path / "out" / "tiles").glob("*.png"))) == 3
    assert find_damage(tmp_path / "out") == []
    for name in ("map.png", "panels.png", "strip.png", "curves.png"):
        with Image.open(tmp_path / "out" / name) as picture:
            assert np.asarray(picture.convert("L")).std() > 5
    tiles = read_geojson(tmp_path / "out" / "tiles.geojson")
    assert len(tiles) == open_run.bag(1).n_instances


def test_write_explanation_has_the_values_of_the_run_and_of_explain_bags(open_run, tmp_path):
    write(tmp_path / "out", open_run, 2, ExplanationSettings())
    content = json.loads((tmp_path / "out" / "explanation.json").read_text())
    row, explanation = open_run.run.predictions[2], explain_bags(open_run.model, open_run.bag(2))
    assert content["probabilities"] == {label: row[f"probability {label}"] for label in open_run.run.target.names}
    contributions = np.load(tmp_path / "out" / "contributions.npy")
    np.testing.assert_array_equal(contributions, explanation.contributions)
    expected = np.array(list(content["scores"].values())) - list(content["baseline"].values())
    np.testing.assert_allclose(contributions.sum(axis=0), expected, rtol=1e-9)
    with (tmp_path / "out" / "instances.csv").open(newline="") as stream:
        weights = [float(row["weight"]) for row in csv.DictReader(stream)]
    np.testing.assert_array_equal(weights, open_run.run.weights[open_run.rows(2)])
    probability = 1 / (1 + np.exp(-content["scores"]["light"]))
    assert probability == pytest.approx(float(row["probability light"]), rel=1e-5)


def test_write_explanation_names_the_class_that_the_reference_model_lacks(open_run, digits_run, tmp_path):
    other = ReferenceModel("digits", BagEstimator.load(digits_run.folder / "model"))
    bag = open_run.run.predictions[0]["bag"]
    with (
        open_bag_background(open_run.run, bag) as background,
        pytest.raises(InputError, match=r"reference model 'digits' predicts the classes 0, 1, not (dark|light)"),
    ):
        write(tmp_path / "out", open_run, 0, ExplanationSettings(beside=other), background)
    assert not (tmp_path / "out").exists()


def test_write_explanation_without_a_picture_exports_tiles(open_run, tmp_path):
    assert {"tiles.geojson", "regions.geojson"} <= set(write(tmp_path / "out", open_run, 0, ExplanationSettings()))


def test_write_explanation_of_a_bag_without_positions_has_no_map(digits_run, tmp_path):
    assert set(write(tmp_path / "out", OpenRun(digits_run), 0, ExplanationSettings())) == ALWAYS


def test_write_explanation_deletion_area_is_at_most_the_insertion_area(open_run, tmp_path):
    write(tmp_path / "out", open_run, 0, ExplanationSettings(output_number=1))
    content = json.loads((tmp_path / "out" / "explanation.json").read_text())
    assert 0 < content["deletion_area"] < 1
    assert content["deletion_area"] <= content["insertion_area"]


def test_write_explanation_replaces_an_explanation_but_no_other_folder(open_run, tmp_path):
    for _ in range(2):
        write(tmp_path / "out", open_run, 0, ExplanationSettings())
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "mine.txt").write_text("mine")
    with pytest.raises(InputError, match="contains other files"):
        write(tmp_path / "other", open_run, 0, ExplanationSettings())


class OppositeModel:
    """A model that gives all weight to the instance to which another model gives the lowest weight."""

    def __init__(self, weights):
        self.weights = weights

    def weigh(self, bags):
        return (np.arange(len(self.weights)) == self.weights.argmin()).astype(float)


def test_write_explanation_reports_the_spread_of_weights_over_seeds(open_run, tmp_path):
    own = open_run.run.weights[open_run.rows(1)]
    other = OppositeModel(own)
    write(tmp_path / "out", open_run, 1, ExplanationSettings(seeds=(other,)))
    with (tmp_path / "out" / "instances.csv").open(newline="") as stream:
        found = [float(row["weight spread"]) for row in csv.DictReader(stream)]
    np.testing.assert_allclose(found, np.abs(own - other.weigh(None)) / 2, rtol=1e-5, atol=1e-9)
    content = json.loads((tmp_path / "out" / "explanation.json").read_text())
    assert any("the models disagree" in warning for warning in content["warnings"])
