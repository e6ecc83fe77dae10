import numpy as np
import pytest

from bagwise.errors import InputError
from bagwise.estimators.bag_classifier import BagClassifier
from bagwise.estimators.network_parameters import check_network_parameters, list_uses_of_held_out_bags
from bagwise.targets.classes import ClassTarget


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
    ],
    ids=str,
)
def test_check_network_parameters_names_the_parameter(parameters, message):
    with pytest.raises(InputError, match=message):
        check_network_parameters(BagClassifier(**parameters), ClassTarget.unnamed(2))


def test_check_network_parameters_rejects_a_threshold_between_three_classes():
    with pytest.raises(InputError, match="a threshold decides between two classes, but y has the classes 0, 1, 2"):
        check_network_parameters(BagClassifier(threshold=True), ClassTarget.unnamed(3))


@pytest.mark.parametrize("validation", [1, 0, 1.0, -3, 5.0, True, "nonsense", np.array([1, 2]), [5]], ids=str)
def test_check_network_parameters_rejects_a_validation_that_is_no_share_and_no_number_of_folds(validation):
    with pytest.raises(InputError, match=r"validation is .*; it must be a share between 0 and 1, a number of folds"):
        check_network_parameters(BagClassifier(validation=validation), ClassTarget.unnamed(2))


@pytest.mark.parametrize("validation", [2, np.int64(5), 0.2, np.float32(0.5), "auto", None], ids=repr)
def test_check_network_parameters_accepts_shares_and_folds_of_any_type_of_number(validation):
    check_network_parameters(BagClassifier(validation=validation), ClassTarget.unnamed(2))


@pytest.mark.parametrize("switch", [True, np.True_])
def test_list_uses_of_held_out_bags_accepts_switches_of_numpy(switch):
    assert list_uses_of_held_out_bags(BagClassifier(calibration=switch)) == ["calibration"]
    assert list_uses_of_held_out_bags(BagClassifier(calibration=not switch)) == []
    assert list_uses_of_held_out_bags(BagClassifier()) == []
