import numpy as np
import pytest

from bagwise.data.datasets.registry import load_dataset
from bagwise.errors import InputError
from bagwise.estimators.bag_classifier import BagClassifier
from bagwise.estimators.training_tasks import (
    LabelledBags,
    TrainingPlan,
    check_network_parameters,
    describe_fit,
    make_tasks,
    make_training_settings,
    split_validation,
)
from bagwise.targets.classes import ClassTarget
from contexts import AddedMean

NEEDLES = load_dataset("needles", n_bags=40)
TARGET = ClassTarget(np.array(["no", "yes"]))
KNOWN = LabelledBags(NEEDLES, np.array([0] * 30 + [1] * 10))


def make_plan(estimator, bags=NEEDLES):
    estimator.seed_, estimator.engine_ = 0, "torch"
    training, validation = make_tasks(LabelledBags(bags, KNOWN.targets[: len(bags)]), None, TARGET, None)
    return TrainingPlan(make_training_settings(estimator), training, validation)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"attention_width": 0}, "attention_width is 0"),
        ({"heads": 1.5}, "heads is 1.5"),
        (
            {"memory": "much"},
            "memory must be 'auto', a size such as '2GB' or '500MB', or a number of bytes, got 'much'",
        ),
        ({"calibration": 1}, "calibration is 1"),
        ({"validation": 1.5}, "validation is 1.5"),
        ({"patience": 3}, "patience needs validation bags; set validation, e.g. validation=0.2"),
        ({"averaging": 0.5, "validation": 0.2}, "averaging and validation cannot be combined.*set averaging=0"),
        ({"calibration": True}, "the calibration is learned from validation bags; set validation"),
        ({"threshold": True}, "the threshold is learned from validation bags; set validation"),
    ],
    ids=str,
)
def test_check_network_parameters_names_the_parameter(parameters, message):
    with pytest.raises(InputError, match=message):
        check_network_parameters(BagClassifier(**parameters), target=ClassTarget.unnamed(2), has_validation_bags=False)


def test_check_network_parameters_accepts_validation_bags_instead_of_a_share():
    model = BagClassifier(patience=3, calibration=True, threshold=True)
    check_network_parameters(model, target=ClassTarget.unnamed(2), has_validation_bags=True)
    with pytest.raises(InputError, match="averaging and validation cannot be combined"):
        check_network_parameters(BagClassifier(averaging=0.5), target=ClassTarget.unnamed(2), has_validation_bags=True)
    with pytest.raises(InputError, match="a threshold decides between two classes, but y has the classes 0, 1, 2"):
        check_network_parameters(model, target=ClassTarget.unnamed(3), has_validation_bags=True)


def test_make_training_settings_copies_every_setting_from_the_estimator():
    model = BagClassifier(epochs=7, optimizer="sgd", learning_rate=0.1, most_instances=5)
    model.seed_ = 11
    settings = make_training_settings(model)
    assert (settings.epochs, settings.optimizer, settings.learning_rate) == (7, "sgd", 0.1)
    assert (settings.most_instances, settings.seed) == (5, 11)


def test_split_validation_holds_out_bags_of_every_class_and_keeps_all_bags():
    training, validation = split_validation(KNOWN, TARGET, 0.2, seed=3)
    assert np.bincount(validation.targets).tolist() == [6, 2]
    assert sorted([*training.bags.names, *validation.bags.names]) == sorted(NEEDLES.names)
    assert split_validation(KNOWN, TARGET, 0.2, seed=3)[1].bags.names.tolist() == validation.bags.names.tolist()


def test_make_tasks_computes_class_weights_from_the_training_bags():
    training_bags = LabelledBags(NEEDLES[:32], KNOWN.targets[:32])
    validation_bags = LabelledBags(NEEDLES[32:], KNOWN.targets[32:])
    training, validation = make_tasks(training_bags, validation_bags, TARGET, "balanced")
    expected = np.array([32 / (2 * 30), 32 / (2 * 2)], dtype=np.float32)
    np.testing.assert_array_equal(training.importance, expected[training_bags.targets])
    np.testing.assert_array_equal(validation.importance, expected[validation_bags.targets])
    assert make_tasks(training_bags, None, TARGET, None)[1] is None


@pytest.mark.parametrize(
    "change",
    [
        {"epochs": 3},
        {"heads": 2},
        {"class_weight": "balanced"},
        {"encoder": "projection"},
        {"context": AddedMean(64)},
        {"pooling": "max"},
        {"augmentation": "auto"},
    ],
    ids=str,
)
def test_describe_fit_depends_on_the_parameters_of_the_fit(change):
    plain, changed = BagClassifier(), BagClassifier(**change)
    assert describe_fit(plain, make_plan(plain), "torch") != describe_fit(changed, make_plan(changed), "torch")


def test_describe_fit_depends_on_the_bags_and_not_on_verbosity_or_memory():
    plain, verbose = BagClassifier(), BagClassifier(verbose=True, memory="1GB")
    assert describe_fit(plain, make_plan(plain), "torch") == describe_fit(verbose, make_plan(verbose), "torch")
    assert describe_fit(plain, make_plan(plain), "torch") != describe_fit(plain, make_plan(plain, NEEDLES[:39]), "torch")
