"""The positive class: its choice changes no more than the names of the classes would."""

import numpy as np
import pytest
from sklearn.base import is_classifier
from sklearn.linear_model import LogisticRegression

from bagwise.data.datasets.registry import load_dataset
from bagwise.errors import InputError
from bagwise.estimators.bag_classifier import BagClassifier
from bagwise.estimators.classical.mi_svm import MISVM
from bagwise.estimators.classical.naive import NaiveClassifier
from bagwise.estimators.classical.pooled import PooledClassifier
from bagwise.estimators.meta.adjusted import Adjusted
from bagwise.estimators.meta.base import set_positive
from bagwise.estimators.meta.committee import Committee
from bagwise.evaluation.evaluation import evaluate
from estimators.test_laws import CLASSES, make_quick, name_of

NEEDLES, TEST = load_dataset("needles", n_bags=40), load_dataset("needles", n_bags=30, seed=5)
FIRST, LAST = (np.array(["b", name])[NEEDLES.labels] for name in ("a", "z"))  # the positive class is the first or last
VALIDATION = load_dataset("needles", n_bags=30, seed=6)
VALIDATION_FIRST, VALIDATION_LAST = (np.array(["b", name])[VALIDATION.labels] for name in ("a", "z"))
NEW_FIRST, NEW_LAST = (np.array(["b", name])[TEST.labels] for name in ("a", "z"))
EXACT = [kind for kind in CLASSES if kind is not Adjusted]  # holding out bags depends on the order of the labels


def check_equivalence(first, last):
    outputs, weights = first.predict_with_weights(TEST)
    expected, expected_weights = last.predict_with_weights(TEST)
    assert (list(first.classes_), list(last.classes_)) == (["a", "b"], ["b", "z"])
    np.testing.assert_array_equal(outputs[:, ::-1], expected)
    np.testing.assert_array_equal(first.predict_proba(TEST), outputs)
    np.testing.assert_array_equal(weights, expected_weights)
    np.testing.assert_array_equal(first.predict(TEST) == "a", last.predict(TEST) == "z")
    np.testing.assert_array_equal(first.decision_function(TEST), -last.decision_function(TEST))
    assert first.decision_threshold == last.decision_threshold
    found, wanted = evaluate(first, TEST, NEW_FIRST).metrics, evaluate(last, TEST, NEW_LAST).metrics
    assert found["instances"] == wanted["instances"]
    has_ties = (expected[:, 0] == expected[:, 1]).any()  # the calibration counts a tie as the first class
    for name in wanted["bags"].keys() - ({"calibration_error"} if has_ties else set()):
        value = wanted["bags"][name]["value"]
        assert found["bags"][name]["value"] == (value if value is None else pytest.approx(value, rel=1e-12)), name


@pytest.mark.parametrize("kind", EXACT, ids=name_of)
def test_positive_class_is_the_same_model_under_another_name(kind):
    first = set_positive(make_quick(kind), "a").fit(NEEDLES, FIRST)
    check_equivalence(first, make_quick(kind).fit(NEEDLES, LAST))


@pytest.mark.parametrize("level", ["embedding", "instance"])
@pytest.mark.parametrize("pooling", ["max", "mean", "attention"])
@pytest.mark.parametrize("engine", ["torch", "fused"])
def test_positive_class_of_networks_does_not_depend_on_engine_level_and_pooling(engine, pooling, level):
    parameters = {"pooling": pooling, "level": level, "engine": engine}
    parameters |= {"epochs": 2, "validation": 2, "calibration": False, "random_state": 0}
    first = BagClassifier(**parameters, positive="a").fit(NEEDLES, FIRST)
    check_equivalence(first, BagClassifier(**parameters).fit(NEEDLES, LAST))


def test_threshold_and_calibration_refer_to_the_positive_class():
    parameters = {"epochs": 4, "calibration": True, "threshold": True, "random_state": 0}
    first = BagClassifier(**parameters, positive="a").fit(NEEDLES, FIRST, validation=(VALIDATION, VALIDATION_FIRST))
    last = BagClassifier(**parameters).fit(NEEDLES, LAST, validation=(VALIDATION, VALIDATION_LAST))
    assert (first.calibration_, first.threshold_) == (last.calibration_, last.threshold_)
    assert first.decision_threshold != 0.5
    check_equivalence(first, last)
    positive = first.predict_proba(TEST)[:, 0] > first.decision_threshold
    np.testing.assert_array_equal(first.predict(TEST) == "a", positive)


@pytest.mark.parametrize("kind", [PooledClassifier, NaiveClassifier])
def test_positive_class_of_wrapped_classifiers_is_saved(kind, tmp_path):
    model = kind(LogisticRegression(), positive="a").fit(NEEDLES, FIRST)
    model.save(tmp_path / "model")
    loaded = kind.load(tmp_path / "model")
    assert loaded.target_.names[loaded.target_.positive] == "a"
    np.testing.assert_array_equal(loaded.predict_proba(TEST), model.predict_proba(TEST))


def test_adjusted_learns_the_threshold_of_the_positive_class():
    model = Adjusted(PooledClassifier(positive="a"), threshold=True, random_state=0).fit(NEEDLES, FIRST)
    assert model.target_.positive == 0
    positive = model.predict_proba(TEST)[:, 0] > model.decision_threshold
    np.testing.assert_array_equal(model.predict(TEST) == "a", positive)


def test_committee_gives_its_positive_class_to_its_members():
    members = {"trees": PooledClassifier(), "svm": MISVM(calibration=False)}
    committee = Committee(members, positive="a", random_state=0).fit(NEEDLES, FIRST)
    assert [member.target_.positive for member in committee.members_] == [0, 0]
    assert members["svm"].positive is None
    with pytest.raises(InputError, match="have different targets"):
        Committee({"trees": PooledClassifier(positive="a"), "svm": MISVM()}).fit(NEEDLES, FIRST)


def test_unknown_positive_class_is_rejected_in_fit():
    model = MISVM(positive="maybe")
    with pytest.raises(InputError, match="positive='maybe' is not a class; choose 'a' or 'b'"):
        model.fit(NEEDLES, FIRST)
    assert model.get_params()["positive"] == "maybe"


@pytest.mark.parametrize("kind", CLASSES, ids=name_of)
def test_every_classifier_is_one_for_scikit_learn(kind):
    assert is_classifier(make_quick(kind))
