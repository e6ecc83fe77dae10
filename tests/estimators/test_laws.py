"""Properties that every bag estimator must have."""

import inspect

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.utils.estimator_checks import estimator_checks_generator

from bagwise import estimators
from bagwise.bags.bags import Bags
from bagwise.data.datasets.registry import load_dataset
from bagwise.estimators.base import BagEstimator
from bagwise.estimators.classical.mi_vlad import MiVLAD
from bagwise.estimators.classical.pooled import PooledClassifier
from bagwise.estimators.classical.wrapped import WrappingEstimator

QUICK = {"epochs": 2, "batch_size": 8, "calibration": False, "starts": 2, "n": 2, "random_state": 0}
SMALL_FOREST = ExtraTreesClassifier(n_estimators=10)
PUBLIC = [getattr(estimators, name) for name in estimators.__all__]
CLASSES = [
    item for item in PUBLIC if inspect.isclass(item) and issubclass(item, BagEstimator) and not inspect.isabstract(item)
]
NEEDLES = load_dataset("needles", n_bags=40)
WORDS = np.where(NEEDLES.labels == 1, "tumour", "normal")

# one class per base class and scikit-learn tag
REPRESENTATIVES = {"MIKernel", "MISVM", "PooledClassifier", "Ensemble", "Adjusted"}
OWN_CHECKS = {  # checks of code that every estimator defines itself, not in its base class
    "check_do_not_raise_errors_in_init_or_set_param",
    "check_no_attributes_set_in_init",
    "check_parameters_default_constructible",
    "check_get_params_invariance",
    "check_dont_overwrite_attributes",
    "check_estimators_unfitted",
    "check_classifiers_train",
    "check_fit_idempotent",
    "check_methods_subset_invariance",
}
NOT_CLAIMED = {
    "check_array_api_input",  # needs SCIPY_ARRAY_API=1; no estimator claims array API support
    # standardisation counts all bags, and the random streams of a fit depend on the number of bags
    "check_sample_weight_equivalence_on_dense_data",
}


def name_of(item):
    return item.__name__


def make_quick(kind):
    """Return an estimator that is quick to fit, without calibration, which has its own tests."""
    known = inspect.signature(kind).parameters
    quick = {name: value for name, value in QUICK.items() if name in known}
    if "estimator" in known:
        quick["estimator"] = SMALL_FOREST if issubclass(kind, WrappingEstimator) else PooledClassifier(SMALL_FOREST)
    if "estimators" in known:
        quick["estimators"] = {"trees": PooledClassifier(SMALL_FOREST), "vectors": MiVLAD(calibration=False)}
    return kind(**quick)


def list_sklearn_cases():
    """Return all checks for every estimator; repeated checks of a base class are in the full tests only."""
    for kind in CLASSES:
        if kind.__name__ == "BagClassifier":  # its checks need other parameters: see test_network
            continue
        for estimator, check in estimator_checks_generator(make_quick(kind)):
            name = getattr(check, "func", check).__name__
            if name in NOT_CLAIMED:
                continue
            is_variant = bool(set(getattr(check, "keywords", {})) - {"name"})
            quick = kind.__name__ in REPRESENTATIVES or (name in OWN_CHECKS and not is_variant)
            marks = [] if quick else [pytest.mark.full]
            yield pytest.param(estimator, check, marks=marks, id=f"{kind.__name__}-{name}")


@pytest.fixture(scope="module", params=CLASSES, ids=name_of)
def fitted(request):
    return make_quick(request.param).fit(NEEDLES, WORDS)


def test_classes_are_all_public_estimators():
    assert len(CLASSES) == 17
    assert {kind.__name__ for kind in CLASSES} >= REPRESENTATIVES


@pytest.mark.filterwarnings("ignore:feature number")  # the data of some checks have a feature that equals the label
@pytest.mark.parametrize(("estimator", "check"), list(list_sklearn_cases()))
def test_estimator_passes_check_of_scikit_learn(estimator, check):
    check(estimator)


def test_bag_estimator_subclasses_are_at_most_two_levels_deep():
    for kind in CLASSES:
        bases = [base for base in kind.__mro__ if issubclass(base, BagEstimator)]
        assert len(bases) <= 3, bases


def test_predict_proba_returns_probabilities_of_the_given_labels(fitted):
    probabilities = fitted.predict_proba(NEEDLES)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    assert (probabilities >= 0).all()
    assert fitted.classes_.tolist() == ["normal", "tumour"]
    np.testing.assert_array_equal(fitted.predict(NEEDLES), fitted.classes_[probabilities.argmax(axis=1)])


def test_predict_log_proba_returns_the_logarithms_of_the_probabilities(fitted):
    np.testing.assert_array_equal(np.exp(fitted.predict_log_proba(NEEDLES)) > 0, fitted.predict_proba(NEEDLES) > 0)
    np.testing.assert_allclose(np.exp(fitted.predict_log_proba(NEEDLES)), fitted.predict_proba(NEEDLES), rtol=1e-12)


def test_partial_fit_does_not_exist_and_its_error_names_the_alternatives(fitted):
    assert not hasattr(fitted, "partial_fit")
    with pytest.raises(AttributeError, match=f"{type(fitted).__name__} has no partial_fit.*checkpoint=.*encoder="):
        fitted.partial_fit(NEEDLES, WORDS)


def test_weigh_returns_weights_that_sum_to_one_in_each_bag(fitted):
    weights = fitted.weigh(NEEDLES)
    assert weights.shape == (NEEDLES.n_instances,)
    assert (weights >= 0).all()
    np.testing.assert_allclose(np.add.reduceat(weights, NEEDLES.offsets[:-1]), 1, rtol=1e-5)


def test_predict_with_weights_returns_probabilities_and_weights(fitted):
    predictions = fitted.predict_with_weights(NEEDLES)
    np.testing.assert_allclose(predictions.outputs, fitted.predict_proba(NEEDLES), rtol=1e-12)
    np.testing.assert_allclose(predictions.weights, fitted.weigh(NEEDLES), rtol=1e-12)


def test_predictions_do_not_depend_on_the_order_of_instances(fitted):
    generator = np.random.default_rng(1)
    orders = [generator.permutation(len(bag)) for bag in NEEDLES]
    shuffled = Bags.from_list([bag[order] for bag, order in zip(NEEDLES, orders, strict=True)])
    np.testing.assert_allclose(fitted.predict_proba(shuffled), fitted.predict_proba(NEEDLES), rtol=1e-4, atol=1e-6)
    weights = np.split(fitted.weigh(NEEDLES), NEEDLES.offsets[1:-1])
    expected = np.concatenate([own[order] for own, order in zip(weights, orders, strict=True)])
    np.testing.assert_allclose(fitted.weigh(shuffled), expected, rtol=1e-4, atol=1e-6)


def test_predictions_do_not_depend_on_the_other_bags(fitted):
    rows = np.random.default_rng(2).permutation(len(NEEDLES))
    expected = fitted.predict_proba(NEEDLES)
    np.testing.assert_allclose(fitted.predict_proba(NEEDLES[rows]), expected[rows], rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(fitted.predict_proba(NEEDLES[[3]]), expected[[3]], rtol=1e-4, atol=1e-6)


def test_fit_is_reproducible_and_never_reads_the_labels_of_the_bags(fitted):
    scrambled = NEEDLES.replace(labels=NEEDLES.labels[::-1], instance_labels=NEEDLES.instance_labels[::-1])
    refitted = clone(fitted).fit(scrambled, WORDS)
    np.testing.assert_array_equal(refitted.predict_proba(scrambled), fitted.predict_proba(NEEDLES))
    np.testing.assert_array_equal(refitted.weigh(scrambled), fitted.weigh(NEEDLES))


@pytest.mark.parametrize(
    "labels",
    [[-1, 1], *(pytest.param(labels, marks=pytest.mark.full) for labels in ([False, True], [2.0, 5.0], ["a", "b"]))],
    ids=str,
)
def test_fit_gives_the_same_model_for_any_label_values(fitted, labels):
    renamed = np.array(labels)[(WORDS == "tumour").astype(int)]
    refitted = clone(fitted).fit(NEEDLES, renamed)
    np.testing.assert_array_equal(refitted.predict_proba(NEEDLES), fitted.predict_proba(NEEDLES))
    assert refitted.classes_.tolist() == labels


def test_load_restores_an_estimator_with_bit_identical_predictions(fitted, tmp_path):
    fitted.save(tmp_path / "model")
    for loaded in (type(fitted).load(tmp_path / "model"), BagEstimator.load(tmp_path / "model")):
        assert type(loaded) is type(fitted)
        np.testing.assert_array_equal(loaded.predict_proba(NEEDLES), fitted.predict_proba(NEEDLES))
        np.testing.assert_array_equal(loaded.weigh(NEEDLES), fitted.weigh(NEEDLES))
        np.testing.assert_array_equal(loaded.decision_function(NEEDLES), fitted.decision_function(NEEDLES))
        assert repr(loaded) == repr(fitted)
    assert {path.suffix for path in (tmp_path / "model").iterdir()} == {".json", ".safetensors"}


def test_estimator_works_in_grid_search_and_cross_validation(fitted):
    assert len(cross_val_score(clone(fitted), NEEDLES, WORDS, cv=2)) == 2
    grid = GridSearchCV(clone(fitted), {"random_state": [1, 2]}, cv=2, refit=False).fit(NEEDLES, WORDS)
    assert np.isfinite(grid.cv_results_["mean_test_score"]).all()


@pytest.mark.parametrize("kind", CLASSES, ids=name_of)
def test_estimator_classifies_bags_of_one_instance(kind):
    generator = np.random.default_rng(3)
    labels = np.repeat([0, 1], 30)
    rows = generator.normal(size=(60, 4)) + 3.0 * labels[:, None]
    model = make_quick(kind)
    if hasattr(model, "epochs"):
        model.set_params(epochs=20, batch_size=4)
    model.fit(rows, labels)
    new_rows = generator.normal(size=(60, 4)) + 3.0 * labels[:, None]
    if not model.__sklearn_tags__().classifier_tags.poor_score:  # the majority baseline ignores the instances
        assert (model.predict(new_rows) == labels).mean() >= 0.95
    np.testing.assert_array_equal(model.weigh(new_rows), 1)


def test_score_instances_scores_each_instance_as_a_bag_of_its_own(fitted):
    if not hasattr(fitted, "score_instances"):
        pytest.skip(f"{type(fitted).__name__} does not score instances")
    scores = fitted.score_instances(NEEDLES)
    singletons = Bags(NEEDLES.instances, np.arange(NEEDLES.n_instances + 1))
    assert scores.shape == (NEEDLES.n_instances,)
    np.testing.assert_allclose(scores, fitted.decision_function(singletons), rtol=1e-4, atol=1e-5)
