import sys

import numpy as np
import pytest
import skops.io
import torch
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from bagwise.errors import InputError
from bagwise.estimators.wrapped.foreign import packed, unpacked

DRAWS = np.random.default_rng(1)
ROWS, FRESH, TARGETS = DRAWS.normal(size=(60, 4)), DRAWS.normal(size=(30, 4)), np.arange(60) % 3
CLASSIFIERS = [
    ExtraTreesClassifier(10),
    RandomForestClassifier(10),
    LogisticRegression(),
    SVC(),
    GradientBoostingClassifier(n_estimators=5),
    CalibratedClassifierCV(LinearSVC(dual=False)),
    make_pipeline(StandardScaler(), RandomForestClassifier(5)),
]


class Unknown(DecisionTreeClassifier):
    """A type that nobody listed."""


def bytes_of(thing):
    return torch.from_numpy(np.frombuffer(skops.io.dumps(thing), dtype=np.uint8).copy())


@pytest.mark.parametrize("classifier", CLASSIFIERS, ids=str)
def test_what_was_packed_predicts_the_same_bits(classifier):
    classifier.fit(ROWS, TARGETS)
    again = unpacked(packed(classifier))
    asked = "predict_proba" if hasattr(classifier, "predict_proba") else "decision_function"
    np.testing.assert_array_equal(getattr(again, asked)(FRESH), getattr(classifier, asked)(FRESH))
    assert repr(again) == repr(classifier)


@pytest.mark.parametrize("classifier", [Unknown(), HistGradientBoostingClassifier(max_iter=2)], ids=str)
def test_what_could_not_be_loaded_is_not_saved(classifier):
    with pytest.raises(InputError, match="known to be harmless are ever loaded; use another classifier"):
        packed(classifier.fit(ROWS, TARGETS))


@pytest.mark.parametrize(
    "thing",
    [
        Unknown().fit(ROWS, TARGETS),
        make_pipeline(FunctionTransformer(print), LogisticRegression()),
        {"classifier": sys.exit},
    ],
    ids=["unknown class", "function", "exit"],
)
def test_other_types_are_not_loaded(thing, monkeypatch):
    content = bytes_of(thing)
    monkeypatch.setattr(skops.io, "loads", lambda *_, **__: pytest.fail("it was loaded before it was checked"))
    with pytest.raises(InputError, match="do not trust its source"):
        unpacked(content)


def test_trees_are_checked_when_they_are_loaded():
    forest = ExtraTreesClassifier(3).fit(ROWS, TARGETS)
    forest.n_features_in_ = 2
    with pytest.raises(InputError, match="no fit can give"):
        unpacked(packed(forest))


def test_without_skops_the_message_says_what_to_install(monkeypatch):
    content = packed(LogisticRegression().fit(ROWS, TARGETS))
    monkeypatch.setitem(sys.modules, "skops.io", None)
    with pytest.raises(InputError, match=r"saved with skops.*bagwise\[classifiers\]"):
        packed(LogisticRegression().fit(ROWS, TARGETS))
    with pytest.raises(InputError, match=r"loaded with skops.*bagwise\[classifiers\]"):
        unpacked(content)
