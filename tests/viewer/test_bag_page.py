import numpy as np
import pytest

from bagwise.explain.trust import effective_number
from bagwise.runs import Run
from bagwise.showing.layers import Layers
from bagwise.showing.shown_run import Opened, ShownRun
from bagwise.viewer.bag_page import describe_bag, describe_instance
from bagwise.viewer.gallery import Found, Gallery

NOTHING = Found(None, None)


@pytest.fixture(scope="module")
def shown(image_runs):
    return ShownRun(Run(image_runs / "attention"))


@pytest.fixture(scope="module")
def digits(digits_run):
    return ShownRun(digits_run)


def test_an_image_bag_says_where_its_tiles_lie(shown):
    found = describe_bag(shown, Layers(shown), 0, Gallery(shown).of_bag(0))
    assert found["kind"] == "pictures"
    assert found["places"] == {"tile_size": 16.0, "bounds": [0.0, 0.0, 96.0, 64.0]}
    assert found["picture"] == {"width": 96, "height": 64, "tile": 256, "deepest": 7}
    assert not found["key_instances"]
    weights = Layers(shown).weights(0)
    assert found["effective_number"] == effective_number(weights, np.array([0, len(weights)]))[0]
    assert found["top_weight"] == float(weights.max())


def test_bags_without_positions_have_no_places(digits):
    found = describe_bag(digits, Layers(digits), 0, NOTHING)
    assert (found["kind"], found["places"], found["picture"]) == ("pictures", None, None)
    assert found["key_instances"]


def with_bags(shown, **fields):
    """The same run, whose bags have other companions."""
    other = ShownRun(shown.run)
    vars(other)["_opened"] = Opened(shown.opened.bags.replace(**fields), None)
    return other


def test_positions_without_a_tile_size_are_not_guessed_at(shown):
    found = describe_bag(with_bags(shown, tile_sizes=None), Layers(shown), 0, NOTHING)
    assert found["places"] is None
    assert any("no tile size" in note for note in found["notes"])


def test_tiles_outside_of_the_picture_are_told(shown):
    moved = with_bags(shown, positions=np.asarray(shown.opened.bags.positions) + 64)
    found = describe_bag(moved, Layers(shown), 0, Gallery(shown).of_bag(0))
    assert any("outside the slide of 96 × 64" in note for note in found["notes"])


def test_collapsed_weights_are_told(digits):
    layers = Layers(digits)
    layers.weights = lambda bag: np.eye(1, 8)[0]
    notes = describe_bag(digits, layers, 0, NOTHING)["notes"]
    assert any("collapsed on one of 8 instances" in note for note in notes)


def test_without_its_data_a_bag_still_has_its_weights(shown):
    gone = ShownRun(shown.run)
    vars(gone)["_opened"] = Opened(None, "the images were moved")
    found = describe_bag(gone, Layers(gone), 0, NOTHING)
    assert found["kind"] == "missing"
    assert "the images were moved" in found["notes"]
    assert found["top_weight"] == float(Layers(shown).weights(0).max())


def test_weights_that_other_seeds_do_not_share_are_told(digits):
    layers = Layers(digits)
    weights = layers.weights(0)
    moved = np.roll(np.eye(1, len(weights))[0], 1)
    found = describe_bag(digits, layers, 0, NOTHING, [np.eye(1, len(weights))[0], moved])
    assert (found["n_seeds"], found["spread"]) == (2, 1.0)
    assert any("the models disagree about the weights" in note for note in found["notes"])
    told = describe_instance(digits, layers, None, 0, 1, [weights, moved])
    assert told["weight_over_seeds"] == [float(weights[1]), 1.0]


def test_numbers_of_an_instance_are_exact_text(shown):
    layers = Layers(shown)
    found = describe_instance(shown, layers, None, 0, 5)
    weights = layers.weights(0)
    assert float(found["weight"]) == float(weights[5])
    assert [float(value) for value in found["contributions"]] == layers.explanation(0).contributions[5].tolist()
    assert [float(value) for value in found["probabilities"]] == layers.probabilities(0)[5].astype(float).tolist()
    assert found["rank"] == sorted(weights.tolist(), reverse=True).index(float(weights[5])) + 1
    assert found["position"] == shown.bag(0).positions[5].tolist()
    assert found["features"] == []
    assert found["key"] is None
