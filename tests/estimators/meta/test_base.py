import numpy as np
import pytest

from bagwise.data.datasets.registry import load_dataset
from bagwise.errors import InputError
from bagwise.estimators.bag_classifier import BagClassifier
from bagwise.estimators.classical.mi_svm import MISVM
from bagwise.estimators.classical.pooled import PooledClassifier
from bagwise.estimators.meta.adjusted import Adjusted
from bagwise.estimators.meta.base import (
    check_estimators,
    get_named_estimators,
    get_single_estimator,
    supports_multiclass,
)
from bagwise.estimators.meta.committee import Committee
from bagwise.estimators.meta.ensemble import Ensemble
from bagwise.estimators.meta.selected import Selected

NEEDLES = load_dataset("needles", n_bags=30)
SINGLE = [Adjusted, Ensemble, Selected]  # meta-estimators that wrap a single estimator
DELEGATING = [Adjusted, Selected]


def test_get_single_estimator_replaces_none_by_the_default():
    network = BagClassifier()
    assert get_single_estimator(network) == {"estimator": network}
    assert isinstance(get_single_estimator(None)["estimator"], PooledClassifier)


def test_get_named_estimators_rejects_values_that_are_not_a_dict():
    network = BagClassifier()
    assert get_named_estimators({"net": network}) == {"estimators['net']": network}
    for wrong in ({}, [network], None):
        with pytest.raises(InputError, match=r"estimators is .*; it must be a dict of named estimators"):
            get_named_estimators(wrong)


def test_check_estimators_names_values_that_are_not_bag_estimators():
    network = BagClassifier()
    assert check_estimators({"estimator": network}) == [network]
    with pytest.raises(InputError, match=r"estimators\['b'\] is 'svm' \(str\); it must be a bag estimator"):
        check_estimators({"estimators['a']": network, "estimators['b']": "svm"})


def test_support_many_classes_is_true_if_all_estimators_do():
    assert supports_multiclass({"net": BagClassifier()})
    assert not supports_multiclass({"net": BagClassifier(), "machine": MISVM()})


@pytest.mark.parametrize("meta", SINGLE)
def test_fit_rejects_values_that_are_not_bag_estimators_by_name(meta):
    with pytest.raises(InputError, match=r"estimator is 'svm' \(str\); it must be a bag estimator"):
        meta("svm").fit(NEEDLES, NEEDLES.labels)


@pytest.mark.parametrize("meta", SINGLE)
def test_meta_estimator_has_the_capabilities_of_its_estimator(meta):
    assert meta(BagClassifier()).__sklearn_tags__().classifier_tags.multi_class
    assert not meta(MISVM()).__sklearn_tags__().classifier_tags.multi_class
    assert hasattr(meta(MISVM()), "score_instances")
    assert not hasattr(meta(PooledClassifier()), "score_instances")


def test_meta_estimator_of_several_estimators_has_their_common_capabilities():
    both = Committee({"trees": PooledClassifier(), "machine": MISVM()})
    assert not both.__sklearn_tags__().classifier_tags.multi_class
    assert not hasattr(both, "score_instances")
    assert hasattr(Committee({"network": BagClassifier(), "machine": MISVM()}), "score_instances")


@pytest.mark.parametrize("meta", DELEGATING)
def test_delegating_estimator_predicts_by_a_fitted_copy_and_leaves_the_original_unchanged(meta):
    original = BagClassifier(epochs=1)
    model = meta(original, random_state=1).fit(NEEDLES, NEEDLES.labels)
    np.testing.assert_array_equal(model.weigh(NEEDLES), model.model_.weigh(NEEDLES))
    np.testing.assert_array_equal(model.score_instances(NEEDLES), model.model_.score_instances(NEEDLES))
    np.testing.assert_array_equal(model.decision_function(NEEDLES), model.model_.decision_function(NEEDLES))
    assert not hasattr(original, "model_")
    assert original.random_state is None


@pytest.mark.parametrize("meta", DELEGATING)
def test_delegating_estimator_seeds_its_copy_unless_the_estimator_has_a_seed(meta):
    unseeded = meta(PooledClassifier(), random_state=3).fit(NEEDLES, NEEDLES.labels)
    assert unseeded.model_.random_state == unseeded.seed_ == 3
    seeded = meta(PooledClassifier(random_state=7), random_state=3).fit(NEEDLES, NEEDLES.labels)
    assert seeded.model_.random_state == 7
