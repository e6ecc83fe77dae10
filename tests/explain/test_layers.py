import threading

import numpy as np
import pytest

from bagwise.bags.bags import Bags
from bagwise.estimators.base import BagEstimator
from bagwise.explain.explanation import explain_bags
from bagwise.explain.layers import LAYERS, BagLayers, BoundedCache, make_map_layer
from bagwise.runs.open_run import OpenRun
from bagwise.runs.run import Run


def test_bounded_cache_drops_the_least_recently_used_value():
    computed = []
    cache = BoundedCache(2, lambda key: computed.append(key) or key)
    for key in (1, 2, 1, 3, 1, 2):  # 2 is the least recently used key when 3 is added
        assert cache.get(key) == key
    assert computed == [1, 2, 3, 2]
    assert len(cache) == 2


def test_bounded_cache_computes_a_value_once_for_all_threads():
    computed, values = [], []
    arrived, release = threading.Barrier(6), threading.Event()

    def compute(key):
        assert release.wait(240)
        computed.append(key)
        return object()

    def ask():
        arrived.wait(240)
        values.append(cache.get("key"))

    cache = BoundedCache(4, compute)
    threads = [threading.Thread(target=ask) for _ in range(5)]
    for thread in threads:
        thread.start()
    arrived.wait(240)  # every thread is about to call get
    release.set()
    for thread in threads:
        thread.join()
    assert computed == ["key"]
    assert len({id(value) for value in values}) == 1


def test_bounded_cache_does_not_block_other_keys():
    started, release = threading.Event(), threading.Event()

    def compute(key):
        if key == "slow":
            started.set()
            assert release.wait(240)
        return key

    cache = BoundedCache(4, compute)
    thread = threading.Thread(target=cache.get, args=["slow"])
    thread.start()
    assert started.wait(240)
    assert cache.get("quick") == "quick"
    release.set()
    thread.join()


def test_bounded_cache_does_not_cache_exceptions():
    outcomes = iter([ValueError("not yet"), "value"])

    def compute():
        outcome = next(outcomes)
        if isinstance(outcome, ValueError):
            raise outcome
        return outcome

    cache = BoundedCache(2, compute)
    with pytest.raises(ValueError, match="not yet"):
        cache.get()
    assert cache.get() == "value"


@pytest.fixture(scope="module", params=["attention", "instances"])
def run(request, image_runs):
    return Run(image_runs / request.param)


@pytest.fixture(scope="module")
def layers(run):
    return BagLayers(OpenRun(run))


def test_bag_layers_weights_are_those_of_the_run(run, layers):
    for bag in range(len(run.predictions)):
        np.testing.assert_array_equal(layers.weights(bag), run.weights[run.offsets[bag] : run.offsets[bag + 1]])
        np.testing.assert_allclose(layers.weights(bag).sum(), 1, rtol=1e-5)


def test_bag_layers_contributions_are_those_of_explain_bags(run, layers):
    model, bags = BagEstimator.load(run.folder / "model"), run.test_bags()
    expected = explain_bags(model, bags[[2]])
    for number in range(2):
        found = layers.values("contribution", 2, number)
        np.testing.assert_array_equal(found, expected.contributions[:, number])
        np.testing.assert_allclose(found.sum(), expected.scores[0, number] - expected.baseline[number], rtol=1e-9)


def test_bag_layers_probabilities_are_those_of_single_instance_bags(run, layers):
    model, bag = BagEstimator.load(run.folder / "model"), run.test_bags()[1]
    for instance in (0, 5):
        expected = model.predict_proba(Bags.from_list([bag[[instance]]]))[0]
        np.testing.assert_allclose(layers.outputs(1)[instance], expected, rtol=1e-5)


def test_make_map_layer_signs_contributions_and_gives_weights_no_class():
    values = np.array([0.2, 0.4])
    assert make_map_layer("contribution", -values, "yes").scale_values("raw").values.tolist() == [-0.5, -1.0]
    assert make_map_layer("weight", values, "yes").scale_values("paper").values.tolist() == [0.0, 1.0]
    assert [make_map_layer(layer, values, "yes").output for layer in LAYERS] == [None, "yes", "yes", "yes"]
    assert [make_map_layer(layer, values, "yes").signed for layer in LAYERS] == [False, True, False, False]
