import csv
import json

import numpy as np
import pytest
from PIL import Image

from bagwise.errors import InputError
from bagwise.estimators import BagEstimator
from bagwise.explain import explain
from bagwise.explain.geojson import read_geojson
from bagwise.explain.heatmaps import Look
from bagwise.manifests import damages
from bagwise.runs import Run
from bagwise.showing.explaining import Beside, Wish, write_explanation
from bagwise.showing.layers import Layers
from bagwise.showing.locating import open_picture
from bagwise.showing.shown_run import ShownRun

ARRAYS = {"weights.npy", "contributions.npy", "probabilities.npy"}
ALWAYS = {"explanation.json", "instances.csv", "strip.png", "curves.png", "manifest.json", *ARRAYS}
OVER_PICTURE = {"map.png", "panels.png", "tiles.geojson", "regions.geojson"}


@pytest.fixture(scope="module")
def shown(image_runs):
    return ShownRun(Run(image_runs / "attention"))


@pytest.fixture(scope="module")
def beside(image_runs):
    return Beside("instances", BagEstimator.load(image_runs / "instances" / "model"))


def write(folder, shown, bag, wish, ground=None):
    return write_explanation(folder, shown, Layers(shown), bag, ground, wish)


def test_everything_about_a_bag_of_an_image_lies_in_its_folder(shown, beside, tmp_path):
    wish = Wish("contribution", 0, Look("raw", threshold=0.3), top=3, beside=beside)
    with open_picture(shown.run, shown.run.predictions[1]["bag"]) as ground:
        names = write(tmp_path / "why", shown, 1, wish, ground)
    assert set(names) >= ALWAYS | OVER_PICTURE
    assert len(list((tmp_path / "why" / "tiles").glob("*.png"))) == 3
    assert damages(tmp_path / "why") == []
    for name in ("map.png", "panels.png", "strip.png", "curves.png"):
        with Image.open(tmp_path / "why" / name) as picture:
            assert np.asarray(picture.convert("L")).std() > 5
    tiles = read_geojson(tmp_path / "why" / "tiles.geojson")
    assert len(tiles) == shown.bag(1).n_instances


def test_the_numbers_are_those_of_the_run_and_of_explain(shown, tmp_path):
    write(tmp_path / "why", shown, 2, Wish())
    facts = json.loads((tmp_path / "why" / "explanation.json").read_text())
    row, why = shown.run.predictions[2], explain(shown.model, shown.bag(2))
    assert facts["probabilities"] == {label: row[f"probability {label}"] for label in shown.run.classes}
    contributions = np.load(tmp_path / "why" / "contributions.npy")
    np.testing.assert_array_equal(contributions, why.contributions)
    expected = np.array(list(facts["scores"].values())) - list(facts["baseline"].values())
    np.testing.assert_allclose(contributions.sum(axis=0), expected, rtol=1e-9)
    with (tmp_path / "why" / "instances.csv").open(newline="") as stream:
        weights = [float(line["weight"]) for line in csv.DictReader(stream)]
    np.testing.assert_array_equal(weights, shown.run.weights[shown.rows(2)])
    chance = 1 / (1 + np.exp(-facts["scores"]["light"]))
    assert chance == pytest.approx(float(row["probability light"]), rel=1e-5)


def test_a_model_of_other_classes_cannot_stand_beside(shown, digits_run, tmp_path):
    other = Beside("digits", BagEstimator.load(digits_run.folder / "model"))
    bag = shown.run.predictions[0]["bag"]
    with (
        open_picture(shown.run, bag) as ground,
        pytest.raises(InputError, match="knows the classes 0, 1, and not light"),
    ):
        write(tmp_path / "why", shown, 0, Wish(beside=other), ground)
    assert not (tmp_path / "why").exists()


def test_tiles_are_exported_without_a_picture_too(shown, tmp_path):
    assert {"tiles.geojson", "regions.geojson"} <= set(write(tmp_path / "why", shown, 0, Wish()))


def test_a_bag_without_a_picture_has_the_rest(digits_run, tmp_path):
    assert set(write(tmp_path / "why", ShownRun(digits_run), 0, Wish())) == ALWAYS


def test_curves_begin_at_the_bags_own_probability(shown, tmp_path):
    write(tmp_path / "why", shown, 0, Wish(class_number=1))
    facts = json.loads((tmp_path / "why" / "explanation.json").read_text())
    assert 0 < facts["deletion_area"] < 1
    assert facts["deletion_area"] <= facts["insertion_area"]


def test_an_explanation_is_replaced_and_nothing_else_is(shown, tmp_path):
    for _ in range(2):
        write(tmp_path / "why", shown, 0, Wish())
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "mine.txt").write_text("mine")
    with pytest.raises(InputError, match="holds other files"):
        write(tmp_path / "other", shown, 0, Wish())


class Elsewhere:
    """A model whose weight lies on the instance that the first one counts least."""

    def __init__(self, weights):
        self.weights = weights

    def weigh(self, bags):
        return (np.arange(len(self.weights)) == self.weights.argmin()).astype(float)


def test_seeds_say_how_far_the_weights_differ(shown, tmp_path):
    own = shown.run.weights[shown.rows(1)]
    other = Elsewhere(own)
    write(tmp_path / "why", shown, 1, Wish(seeds=(other,)))
    with (tmp_path / "why" / "instances.csv").open(newline="") as stream:
        found = [float(line["weight spread"]) for line in csv.DictReader(stream)]
    np.testing.assert_allclose(found, np.abs(own - other.weigh(None)) / 2, rtol=1e-5, atol=1e-9)
    facts = json.loads((tmp_path / "why" / "explanation.json").read_text())
    assert any("the models disagree" in warning for warning in facts["warnings"])
