import pytest

from bagwise.errors import InputError
from bagwise.estimators import MISVM, BagClassifier, MiSVM
from bagwise.estimators.methods import METHODS, build_method, method_name
from bagwise.estimators.presets import PRESETS


def test_every_method_can_be_built_and_asked_for_in_any_spelling():
    for name in METHODS:
        assert isinstance(build_method(name), METHODS[name].kind)
        for typed in (name.replace("-", "_"), name.replace(" ", "-"), name.replace("+", " "), f" {name} "):
            assert method_name(typed) == name


def test_letters_tell_instances_from_bags():
    assert isinstance(build_method("mi-svm"), MiSVM)
    assert isinstance(build_method("MI-svm"), MISVM)
    assert build_method("mi-net").level == "instance"
    assert build_method("MI-net").level == "embedding"
    assert method_name("ATTENTION") == "attention"
    assert method_name("mivlad") == "miVLAD"
    with pytest.raises(InputError, match="write mi-SVM or MI-SVM"):
        method_name("Mi-SVM")


def test_parameters_reach_the_estimator_and_unknown_ones_are_refused():
    assert build_method("attention", epochs=7).epochs == 7
    assert isinstance(build_method("attention"), BagClassifier)
    with pytest.raises(InputError, match="attention has no parameter 'epoch'; did you mean 'epochs'"):
        build_method("attention", epoch=7)
    with pytest.raises(InputError, match="attention has no parameter 'pooling'"):
        build_method("attention", pooling="max")
    with pytest.raises(InputError, match="did you mean 'attention'"):
        build_method("atention")


def test_parameters_of_an_estimator_that_is_held_have_nested_names():
    ensemble = build_method("bagwise ensemble", estimator__epochs=7, workers=2)
    assert (ensemble.n, ensemble.workers, ensemble.estimator.epochs) == (3, 2, 7)
    assert {name: getattr(ensemble.estimator, name) for name in PRESETS["bagwise"]} == PRESETS["bagwise"]
    with pytest.raises(InputError, match="no parameter 'estimator__epoch'; did you mean 'estimator__epochs'"):
        build_method("bagwise ensemble", estimator__epoch=7)
    for fixed in ("estimator", "n", "estimator__pooling"):
        with pytest.raises(InputError, match=f"bagwise ensemble has no parameter '{fixed}'"):
            build_method("bagwise ensemble", **{fixed: 2})


def test_no_two_that_were_built_share_anything():
    changed, other = build_method("bagwise ensemble", estimator__epochs=7), build_method("bagwise ensemble")
    assert changed.estimator is not other.estimator
    assert other.estimator.epochs == BagClassifier().epochs
