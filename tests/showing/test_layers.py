import numpy as np
import pytest

from bagwise.bags import Bags
from bagwise.estimators import BagEstimator
from bagwise.explain import explain
from bagwise.runs import Run
from bagwise.showing.layers import LAYERS, Layers, as_drawn
from bagwise.showing.shown_run import ShownRun


@pytest.fixture(scope="module", params=["attention", "instances"])
def run(request, image_runs):
    return Run(image_runs / request.param)


@pytest.fixture(scope="module")
def layers(run):
    return Layers(ShownRun(run))


def test_weights_are_those_of_the_run(run, layers):
    for bag in range(len(run.predictions)):
        np.testing.assert_array_equal(layers.weights(bag), run.weights[run.offsets[bag] : run.offsets[bag + 1]])
        np.testing.assert_allclose(layers.weights(bag).sum(), 1, rtol=1e-5)


def test_contributions_are_those_of_explain_and_add_up(run, layers):
    model, bags = BagEstimator.load(run.folder / "model"), run.test_bags()
    expected = explain(model, bags[[2]])
    for number in range(2):
        found = layers.values("contribution", 2, number)
        np.testing.assert_array_equal(found, expected.contributions[:, number])
        np.testing.assert_allclose(found.sum(), expected.scores[0, number] - expected.baseline[number], rtol=1e-9)


def test_an_instances_probability_is_that_of_a_bag_of_it_alone(run, layers):
    model, bag = BagEstimator.load(run.folder / "model"), run.test_bags()[1]
    for instance in (0, 5):
        alone = model.predict_proba(Bags.from_list([bag[[instance]]]))[0]
        np.testing.assert_allclose(layers.probabilities(1)[instance], alone, rtol=1e-5)


def test_contributions_are_coloured_around_zero_and_weights_are_of_no_class():
    values = np.array([0.2, 0.4])
    assert as_drawn("contribution", -values, "yes").scaled("raw").values.tolist() == [-0.5, -1.0]
    assert as_drawn("weight", values, "yes").scaled("paper").values.tolist() == [0.0, 1.0]
    assert [as_drawn(layer, values, "yes").class_name for layer in LAYERS] == [None, "yes", "yes"]
    assert [as_drawn(layer, values, "yes").signed for layer in LAYERS] == [False, True, False]
