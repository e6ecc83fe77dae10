"""BagClassifier is the network of the classes: its fits are tested in test_network."""

import inspect

from bagwise.estimators.bag_classifier import BagClassifier
from bagwise.estimators.network import BagNetwork


def test_bag_classifier_has_every_parameter_of_networks_with_the_same_default():
    own, common = (inspect.signature(kind).parameters for kind in (BagClassifier, BagNetwork))
    assert {name: own[name].default for name in common} == {name: entry.default for name, entry in common.items()}
    assert own.keys() - common.keys() == {"target", "positive", "class_weight", "calibration", "threshold"}


def test_bag_network_is_abstract():
    assert inspect.isabstract(BagNetwork)
    assert not inspect.isabstract(BagClassifier)


def test_parameters_are_stored_unchanged():
    model = BagClassifier(**dict.fromkeys(inspect.signature(BagClassifier).parameters, "value"))
    assert set(model.get_params().values()) == {"value"}
