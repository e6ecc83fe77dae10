import sys

import numpy as np
import pytest
import skops.io
import torch
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import (
    BaggingClassifier,
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
from sklearn.tree._tree import Tree

from bagwise.errors import InputError
from bagwise.estimators.classical.skops_files import check_trees, dump_classifier, load_classifier

GENERATOR = np.random.default_rng(1)
ROWS, TARGETS = GENERATOR.normal(size=(60, 4)), np.arange(60) % 2
ESTIMATORS_WITH_TREES = [
    DecisionTreeClassifier(),
    DecisionTreeClassifier(max_leaf_nodes=6),  # uses scikit-learn's best-first builder
    ExtraTreesClassifier(3),
    GradientBoostingClassifier(n_estimators=3),
    BaggingClassifier(DecisionTreeClassifier(), 3, max_features=0.5),
    make_pipeline(StandardScaler(), ExtraTreesClassifier(3)),
]


@pytest.mark.parametrize("estimator", ESTIMATORS_WITH_TREES, ids=lambda each: type(each).__name__)
def test_dump_classifier_of_equal_classifiers_gives_equal_bytes(estimator):
    nested = {name: 0 for name in estimator.get_params() if name.split("__")[-1] == "random_state"}
    fitted = [clone(estimator).set_params(**nested).fit(ROWS, TARGETS) for _ in range(2)]
    first, second = map(dump_classifier, fitted)
    assert torch.equal(first, second)
    np.testing.assert_array_equal(load_classifier(first).predict_proba(ROWS), fitted[0].predict_proba(ROWS))


def forge_tree(tree, **changes):
    """Return the tree with changed indices, as in a forged file."""
    state = tree.__getstate__()
    nodes = state["nodes"].copy()
    for field, (node, value) in changes.items():
        if field != "node_count":
            nodes[field][node] = value
    count = changes["node_count"][1] if "node_count" in changes else state["node_count"]
    copy = Tree(*tree.__reduce__()[1])
    copy.__setstate__({**state, "nodes": nodes, "node_count": count})
    return copy


@pytest.mark.parametrize("estimator", ESTIMATORS_WITH_TREES, ids=str)
def test_check_trees_accepts_fitted_trees(estimator):
    check_trees(estimator.fit(ROWS, TARGETS))


FORGERIES = [
    {"left_child": (0, 10**6)},
    {"right_child": (0, 10**6)},
    {"right_child": (0, -7)},
    {"left_child": (1, 0)},  # a cycle
    {"left_child": (0, 0)},
    {"feature": (0, 4)},
    {"feature": (0, -1)},
    {"node_count": (0, 0)},
]


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        *((changes, "alone") for changes in FORGERIES),
        *((FORGERIES[0], place) for place in ("forest", "pipeline")),
        *(
            pytest.param(changes, place, marks=pytest.mark.full)
            for changes in FORGERIES[1:]
            for place in ("forest", "pipeline")
        ),
    ],
    ids=str,
)
def test_check_trees_rejects_indices_out_of_bounds(changes, place):
    tree = DecisionTreeClassifier(random_state=0).fit(ROWS, TARGETS)
    assert tree.tree_.children_left[1] != -1  # needed to make a cycle
    tree.tree_ = forge_tree(tree.tree_, **changes)
    forest = ExtraTreesClassifier(3).fit(ROWS, TARGETS)
    forest.estimators_[2] = tree
    estimator = {"alone": tree, "forest": forest, "pipeline": make_pipeline(StandardScaler(), forest)}[place]
    with pytest.raises(InputError, match="do not trust the source of the file"):
        check_trees(estimator)


def test_check_trees_rejects_trees_with_more_features_than_the_estimator():
    forest = ExtraTreesClassifier(3).fit(ROWS, TARGETS)
    forest.n_features_in_ = 2
    with pytest.raises(InputError, match="do not trust the source"):
        check_trees(forest)
    tree = DecisionTreeClassifier().fit(ROWS, TARGETS)
    tree.n_features_in_ = 2
    with pytest.raises(InputError, match="do not trust the source"):
        check_trees(tree)


THREE_CLASS_ROWS, NEW_ROWS, THREE_CLASSES = (
    GENERATOR.normal(size=(60, 4)),
    GENERATOR.normal(size=(30, 4)),
    np.arange(60) % 3,
)
CLASSIFIERS = [
    ExtraTreesClassifier(10),
    RandomForestClassifier(10),
    LogisticRegression(),
    SVC(),
    GradientBoostingClassifier(n_estimators=5),
    CalibratedClassifierCV(LinearSVC(dual=False)),
    make_pipeline(StandardScaler(), RandomForestClassifier(5)),
]


class UnlistedTree(DecisionTreeClassifier):
    """A type that is not trusted."""


def dump_unchecked(value):
    return torch.from_numpy(np.frombuffer(skops.io.dumps(value), dtype=np.uint8).copy())


@pytest.mark.parametrize("classifier", CLASSIFIERS, ids=str)
def test_load_classifier_restores_the_classifier_bit_identically(classifier):
    classifier.fit(THREE_CLASS_ROWS, THREE_CLASSES)
    loaded = load_classifier(dump_classifier(classifier))
    method = "predict_proba" if hasattr(classifier, "predict_proba") else "decision_function"
    np.testing.assert_array_equal(getattr(loaded, method)(NEW_ROWS), getattr(classifier, method)(NEW_ROWS))
    assert repr(loaded) == repr(classifier)


@pytest.mark.parametrize("classifier", [UnlistedTree(), HistGradientBoostingClassifier(max_iter=2)], ids=str)
def test_dump_classifier_rejects_types_that_could_not_be_loaded(classifier):
    with pytest.raises(InputError, match="known to be safe can be loaded; use another classifier"):
        dump_classifier(classifier.fit(THREE_CLASS_ROWS, THREE_CLASSES))


@pytest.mark.parametrize(
    "value",
    [
        UnlistedTree().fit(THREE_CLASS_ROWS, THREE_CLASSES),
        make_pipeline(FunctionTransformer(print), LogisticRegression()),
        {"classifier": sys.exit},
    ],
    ids=["unlisted class", "function", "exit"],
)
def test_load_classifier_rejects_other_types_before_loading(value, monkeypatch):
    content = dump_unchecked(value)
    monkeypatch.setattr(skops.io, "loads", lambda *_, **__: pytest.fail("it was loaded before it was checked"))
    with pytest.raises(InputError, match="do not trust the source of the file"):
        load_classifier(content)


def test_load_classifier_checks_trees():
    forest = ExtraTreesClassifier(3).fit(THREE_CLASS_ROWS, THREE_CLASSES)
    forest.n_features_in_ = 2
    with pytest.raises(InputError, match="contains an invalid decision tree"):
        load_classifier(dump_classifier(forest))


def test_dump_and_load_classifier_name_the_missing_package(monkeypatch):
    content = dump_classifier(LogisticRegression().fit(THREE_CLASS_ROWS, THREE_CLASSES))
    monkeypatch.setitem(sys.modules, "skops.io", None)
    with pytest.raises(InputError, match=r"saving .* requires skops.*pip install 'bagwise\[classifiers\]'"):
        dump_classifier(LogisticRegression().fit(THREE_CLASS_ROWS, THREE_CLASSES))
    with pytest.raises(InputError, match=r"loading .* requires skops.*pip install 'bagwise\[classifiers\]'"):
        load_classifier(content)
