import numpy as np
import pytest

from bagwise.explain.layers import BagLayers
from bagwise.explain.trust import compute_effective_number
from bagwise.runs.open_run import OpenedBags, OpenRun
from bagwise.runs.run import Run
from bagwise.viewer.bag_page import (
    MAX_FEATURES,
    MAX_ROWS,
    compute_feature_statistics,
    describe_bag,
    describe_instance,
    find_unusual_features,
)
from bagwise.viewer.pictures import BagPicture, RunPictures


def test_find_unusual_features_measures_standard_deviations_from_the_mean():
    rng = np.random.default_rng(0)
    instances = rng.normal(3, 2, (500, 30))
    instances[7, 4] += 100
    found = find_unusual_features(instances[7], compute_feature_statistics(instances))
    assert len(found) == MAX_FEATURES
    first = found[0]
    column = instances[:, 4]
    assert first["feature"] == "feature 4"
    np.testing.assert_allclose(first["deviations"], (column[7] - column.mean()) / column.std(), rtol=1e-12)
    np.testing.assert_allclose([first["value"], first["mean"]], [column[7], column.mean()], rtol=1e-12)
    distances = [abs(each["deviations"]) for each in found]
    assert distances == sorted(distances, reverse=True)


def test_find_unusual_features_ignores_constant_features():
    instances = np.array([[1.0, 5.0], [2.0, 5.0]])
    assert [
        int(each["feature"].split()[1])
        for each in find_unusual_features(instances[0], compute_feature_statistics(instances))
    ] == [0]


def test_compute_feature_statistics_subsamples_many_instances():
    instances = np.arange(5 * MAX_ROWS, dtype=np.float64)[:, None]
    found = compute_feature_statistics(instances)
    np.testing.assert_allclose(found.means, instances.mean(), rtol=1e-4)
    np.testing.assert_allclose(found.deviations, instances.std(), rtol=1e-3)


NO_PICTURE = BagPicture(None, None)


@pytest.fixture(scope="module")
def open_run(image_runs):
    return OpenRun(Run(image_runs / "attention"))


@pytest.fixture(scope="module")
def digits(digits_run):
    return OpenRun(digits_run)


def test_describe_bag_of_an_image_has_tile_grid_and_picture(open_run):
    found = describe_bag(open_run, BagLayers(open_run), 0, RunPictures(open_run).get_bag_picture(0))
    assert found["kind"] == "pictures"
    assert found["tile_grid"] == {"tile_size": 16.0, "bounds": [0.0, 0.0, 96.0, 64.0]}
    assert found["picture"] == {"width": 96, "height": 64, "tile_side": 256, "max_level": 7}
    assert not found["key_instances"]
    weights = BagLayers(open_run).weights(0)
    assert found["effective_number"] == compute_effective_number(weights, np.array([0, len(weights)]))[0]
    assert found["top_weight"] == float(weights.max())


def test_describe_bag_without_positions_has_no_tile_grid(digits):
    found = describe_bag(digits, BagLayers(digits), 0, NO_PICTURE)
    assert (found["kind"], found["tile_grid"], found["picture"]) == ("pictures", None, None)
    assert found["key_instances"]


def replace_bags(open_run, **fields):
    """Return the same run, with other metadata of its bags."""
    other = OpenRun(open_run.run)
    vars(other)["_opened"] = OpenedBags(open_run.opened.bags.replace(**fields), None)
    return other


def test_describe_bag_without_a_tile_size_has_a_note(open_run):
    found = describe_bag(replace_bags(open_run, tile_sizes=None), BagLayers(open_run), 0, NO_PICTURE)
    assert found["tile_grid"] is None
    assert any("no tile size" in note for note in found["notes"])


def test_describe_bag_notes_tiles_outside_the_picture(open_run):
    moved = replace_bags(open_run, positions=np.asarray(open_run.opened.bags.positions) + 64)
    found = describe_bag(moved, BagLayers(open_run), 0, RunPictures(open_run).get_bag_picture(0))
    assert any("is outside the slide of 96 × 64" in note for note in found["notes"])


def test_describe_bag_notes_collapsed_weights(digits):
    layers = BagLayers(digits)
    layers.weights = lambda bag: np.eye(1, 8)[0]
    notes = describe_bag(digits, layers, 0, NO_PICTURE)["notes"]
    assert any("collapsed onto one of 8 instances" in note for note in notes)


def test_describe_bag_without_data_has_its_weights(open_run):
    missing = OpenRun(open_run.run)
    vars(missing)["_opened"] = OpenedBags(None, "the images were moved")
    found = describe_bag(missing, BagLayers(missing), 0, NO_PICTURE)
    assert found["kind"] == "missing"
    assert "the images were moved" in found["notes"]
    assert found["top_weight"] == float(BagLayers(open_run).weights(0).max())


def test_describe_bag_notes_weights_that_differ_between_seeds(digits):
    layers = BagLayers(digits)
    weights = layers.weights(0)
    moved = np.roll(np.eye(1, len(weights))[0], 1)
    found = describe_bag(digits, layers, 0, NO_PICTURE, [np.eye(1, len(weights))[0], moved])
    assert (found["n_seeds"], found["spread"]) == (2, 1.0)
    assert any("the models disagree about the weights" in note for note in found["notes"])
    details = describe_instance(digits, layers, 0, 1, weights_by_seed=[weights, moved])
    assert details["weight_over_seeds"] == [float(weights[1]), 1.0]


def test_describe_instance_has_exact_values_as_text(open_run):
    layers = BagLayers(open_run)
    found = describe_instance(open_run, layers, 0, 5)
    weights = layers.weights(0)
    assert float(found["weight"]) == float(weights[5])
    assert [float(value) for value in found["contributions"]] == layers.explanation(0).contributions[5].tolist()
    assert [float(value) for value in found["outputs"]] == layers.outputs(0)[5].astype(float).tolist()
    assert found["rank"] == sorted(weights.tolist(), reverse=True).index(float(weights[5])) + 1
    assert found["position"] == open_run.bag(0).positions[5].tolist()
    assert found["features"] == []
    assert found["key"] is None
