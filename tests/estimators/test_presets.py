import pytest

from bagwise.datasets import load_dataset
from bagwise.errors import InputError
from bagwise.estimators import BagClassifier
from bagwise.estimators.methods import METHODS
from bagwise.estimators.presets import PRESETS, preset


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_trains_and_is_a_copy_that_may_be_changed(name):
    bags = load_dataset("needles", n_bags=12)
    BagClassifier(**preset(name.upper()), epochs=2, random_state=0).fit(bags, bags.labels)
    preset(name)["epochs"] = 3
    assert "epochs" not in preset(name)


def test_an_unknown_one_is_refused():
    with pytest.raises(InputError, match="preset 'bagwse' is unknown; did you mean 'bagwise'"):
        preset("bagwse")


def test_the_method_of_the_same_name_is_the_preset():
    assert METHODS["bagwise"].parameters == PRESETS["bagwise"]
