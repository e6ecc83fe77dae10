"""Laws that hold for every estimator of bags, deep or classical."""

import inspect

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from bagwise import estimators
from bagwise.bags import Bags
from bagwise.datasets import load_dataset
from bagwise.estimators import BagEstimator, MiVLAD, PooledClassifier
from bagwise.estimators.wrapped.wrapping import WrappingEstimator

QUICK = {"epochs": 2, "batch_size": 8, "calibration": 0, "starts": 2, "n": 2, "random_state": 0}
FEW_TREES = ExtraTreesClassifier(n_estimators=10)
KINDS = [getattr(estimators, name) for name in estimators.__all__ if not inspect.isabstract(getattr(estimators, name))]
CLASSICAL = [kind for kind in KINDS if kind.__name__ != "BagClassifier"]  # whose checks are in test_network
NEEDLES = load_dataset("needles", n_bags=40)
WORDS = np.where(NEEDLES.labels == 1, "tumour", "normal")


def make(kind):
    """An estimator that is quick to fit; calibration has tests of its own."""
    known = inspect.signature(kind).parameters
    quick = {name: value for name, value in QUICK.items() if name in known}
    if "estimator" in known:
        wraps = issubclass(kind, WrappingEstimator)
        quick["estimator"] = FEW_TREES if wraps else PooledClassifier(FEW_TREES)
    if "estimators" in known:
        quick["estimators"] = {"trees": PooledClassifier(FEW_TREES), "vectors": MiVLAD(calibration=0)}
    return kind(**quick)


@pytest.fixture(scope="module", params=KINDS, ids=lambda kind: kind.__name__)
def fitted(request):
    return make(request.param).fit(NEEDLES, WORDS)


@parametrize_with_checks([make(kind) for kind in CLASSICAL])
def test_scikit_learn(estimator, check):
    check(estimator)


def test_probabilities_are_probabilities_of_the_given_labels(fitted):
    probabilities = fitted.predict_proba(NEEDLES)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    assert (probabilities >= 0).all()
    assert fitted.classes_.tolist() == ["normal", "tumour"]
    np.testing.assert_array_equal(fitted.predict(NEEDLES), fitted.classes_[probabilities.argmax(axis=1)])


def test_weights_are_shares(fitted):
    weights = fitted.weigh(NEEDLES)
    assert weights.shape == (NEEDLES.n_instances,)
    assert (weights >= 0).all()
    np.testing.assert_allclose(np.add.reduceat(weights, NEEDLES.offsets[:-1]), 1, rtol=1e-5)


def test_the_order_of_instances_does_not_matter_in_prediction(fitted):
    order = np.random.default_rng(1)
    mixed = [order.permutation(len(bag)) for bag in NEEDLES]
    shuffled = Bags.from_list([bag[chosen] for bag, chosen in zip(NEEDLES, mixed, strict=True)])
    np.testing.assert_allclose(fitted.predict_proba(shuffled), fitted.predict_proba(NEEDLES), rtol=1e-4, atol=1e-6)
    weights = np.split(fitted.weigh(NEEDLES), NEEDLES.offsets[1:-1])
    expected = np.concatenate([own[chosen] for own, chosen in zip(weights, mixed, strict=True)])
    np.testing.assert_allclose(fitted.weigh(shuffled), expected, rtol=1e-4, atol=1e-6)


def test_the_order_of_bags_and_their_company_do_not_matter_in_prediction(fitted):
    rows = np.random.default_rng(2).permutation(len(NEEDLES))
    whole = fitted.predict_proba(NEEDLES)
    np.testing.assert_allclose(fitted.predict_proba(NEEDLES[rows]), whole[rows], rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(fitted.predict_proba(NEEDLES[[3]]), whole[[3]], rtol=1e-4, atol=1e-6)


def test_labels_that_bags_carry_are_never_read(fitted):
    scrambled = NEEDLES.replace(labels=NEEDLES.labels[::-1], instance_labels=NEEDLES.instance_labels[::-1])
    again = clone(fitted).fit(scrambled, WORDS)
    np.testing.assert_array_equal(again.predict_proba(scrambled), fitted.predict_proba(NEEDLES))


@pytest.mark.parametrize("labels", [[-1, 1], [False, True], [2.0, 5.0], ["a", "b"]], ids=str)
def test_any_label_values_give_the_same_model(fitted, labels):
    renamed = np.array(labels)[(WORDS == "tumour").astype(int)]
    again = clone(fitted).fit(NEEDLES, renamed)
    np.testing.assert_array_equal(again.predict_proba(NEEDLES), fitted.predict_proba(NEEDLES))
    assert again.classes_.tolist() == labels


def test_a_seed_gives_the_same_bits_again(fitted):
    again = clone(fitted).fit(NEEDLES, WORDS)
    np.testing.assert_array_equal(again.predict_proba(NEEDLES), fitted.predict_proba(NEEDLES))
    np.testing.assert_array_equal(again.weigh(NEEDLES), fitted.weigh(NEEDLES))


def test_saved_and_loaded_it_predicts_the_same_bits(fitted, tmp_path):
    fitted.save(tmp_path / "model")
    for again in (type(fitted).load(tmp_path / "model"), BagEstimator.load(tmp_path / "model")):
        assert type(again) is type(fitted)
        np.testing.assert_array_equal(again.predict_proba(NEEDLES), fitted.predict_proba(NEEDLES))
        np.testing.assert_array_equal(again.weigh(NEEDLES), fitted.weigh(NEEDLES))
        np.testing.assert_array_equal(again.decision_function(NEEDLES), fitted.decision_function(NEEDLES))
        assert repr(again) == repr(fitted)
    assert {path.suffix for path in (tmp_path / "model").iterdir()} <= {".json", ".safetensors", ".skops"}


def test_it_works_in_grid_search_and_cross_validation(fitted):
    assert len(cross_val_score(clone(fitted), NEEDLES, WORDS, cv=2)) == 2
    grid = GridSearchCV(clone(fitted), {"random_state": [1, 2]}, cv=2, refit=False).fit(NEEDLES, WORDS)
    assert np.isfinite(grid.cv_results_["mean_test_score"]).all()


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_bags_of_one_instance_are_ordinary_classification(kind):
    draws = np.random.default_rng(3)
    labels = np.repeat([0, 1], 30)
    rows = draws.normal(size=(60, 4)) + 3.0 * labels[:, None]
    model = make(kind)
    if hasattr(model, "epochs"):
        model.set_params(epochs=20, batch_size=4)
    model.fit(rows, labels)
    fresh = draws.normal(size=(60, 4)) + 3.0 * labels[:, None]
    assert (model.predict(fresh) == labels).mean() >= 0.95
    np.testing.assert_array_equal(model.weigh(fresh), 1)


def test_instance_scores_rank_the_instances_as_bags_of_their_own(fitted):
    if not hasattr(fitted, "score_instances"):
        pytest.skip(f"{type(fitted).__name__} has no scores of single instances")
    scores = fitted.score_instances(NEEDLES)
    alone = Bags(NEEDLES.instances, np.arange(NEEDLES.n_instances + 1))
    assert scores.shape == (NEEDLES.n_instances,)
    np.testing.assert_allclose(scores, fitted.decision_function(alone), rtol=1e-4, atol=1e-5)
