import pytest

from bagwise.data.datasets.registry import load_dataset
from bagwise.errors import InputError
from bagwise.estimators.bag_classifier import BagClassifier
from bagwise.estimators.classical.mi_svm import MISVM, MiSVM
from bagwise.estimators.registry import METHODS, PRESETS, build_method, get_preset, resolve_method_name


@pytest.mark.parametrize("name", PRESETS)
def test_get_preset_returns_a_copy_of_parameters_that_train(name):
    bags = load_dataset("needles", n_bags=12)
    BagClassifier(**get_preset(name.upper()), epochs=2, random_state=0).fit(bags, bags.labels)
    get_preset(name)["epochs"] = 3
    assert "epochs" not in get_preset(name)


def test_get_preset_rejects_an_unknown_name_and_suggests_another():
    with pytest.raises(InputError, match="preset 'bagwse' is unknown; did you mean 'bagwise'"):
        get_preset("bagwse")


def test_methods_include_the_preset_of_the_same_name():
    assert METHODS["bagwise"].parameters == PRESETS["bagwise"]


def test_resolve_method_name_accepts_every_spelling_of_every_method():
    for name in METHODS:
        for typed in (name.replace("-", "_"), name.replace(" ", "-"), name.replace("+", " "), f" {name} "):
            assert resolve_method_name(typed) == name
    assert resolve_method_name("ATTENTION") == "attention"
    assert resolve_method_name("mivlad") == "miVLAD"


def test_resolve_method_name_distinguishes_mi_from_MI():  # noqa: N802
    assert isinstance(build_method("mi-svm"), MiSVM)
    assert isinstance(build_method("MI-svm"), MISVM)
    assert build_method("mi-net").level == "instance"
    assert build_method("MI-net").level == "embedding"
    with pytest.raises(InputError, match="method 'Mi-SVM' is unknown; write mi-SVM or MI-SVM"):
        resolve_method_name("Mi-SVM")


@pytest.mark.parametrize("typed", ["misvm", "mi svm", "mi_svm", "minet", "mi net"])
def test_resolve_method_name_refuses_ambiguous_names_with_both_candidates(typed):
    word = "SVM" if "svm" in typed else "Net"
    with pytest.raises(InputError, match=f"'{typed}' is ambiguous: it could be mi-{word} or MI-{word}; write one"):
        resolve_method_name(typed)
    assert resolve_method_name("migraph") == "mi-Graph", "there is no MI-Graph"


def test_build_method_builds_every_method():
    for name, method in METHODS.items():
        assert isinstance(build_method(name), method.kind)


def test_build_method_passes_parameters_and_rejects_unknown_or_fixed_ones_by_name():
    assert build_method("attention", epochs=7).epochs == 7
    with pytest.raises(InputError, match="attention has no parameter 'epoch'; did you mean 'epochs'"):
        build_method("attention", epoch=7)
    with pytest.raises(InputError, match="attention has no parameter 'pooling'"):
        build_method("attention", pooling="max")
    with pytest.raises(InputError, match="method 'atention' is unknown; did you mean 'attention'"):
        build_method("atention")


def test_build_method_passes_parameters_of_a_wrapped_estimator_under_nested_names():
    ensemble = build_method("bagwise ensemble", estimator__epochs=7, workers=2)
    assert (ensemble.n, ensemble.workers, ensemble.estimator.epochs) == (3, 2, 7)
    assert {name: getattr(ensemble.estimator, name) for name in PRESETS["bagwise"]} == PRESETS["bagwise"]
    with pytest.raises(InputError, match="no parameter 'estimator__epoch'; did you mean 'estimator__epochs'"):
        build_method("bagwise ensemble", estimator__epoch=7)
    for fixed in ("estimator", "n", "estimator__pooling"):
        with pytest.raises(InputError, match=f"bagwise ensemble has no parameter '{fixed}'"):
            build_method("bagwise ensemble", **{fixed: 2})


def test_build_method_shares_nothing_between_calls():
    changed, plain = build_method("bagwise ensemble", estimator__epochs=7), build_method("bagwise ensemble")
    assert changed.estimator is not plain.estimator
    assert plain.estimator.epochs == BagClassifier().epochs
