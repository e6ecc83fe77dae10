"""Scaling in groups equals scaling at once, and methods that need too much memory are refused before they start."""

import numpy as np
import pytest

from bagwise.bags.bags import Bags
from bagwise.errors import InputError
from bagwise.estimators.classical import scaled_bags
from bagwise.estimators.classical.mi_svm import MISVM
from bagwise.estimators.classical.naive import NaiveClassifier
from bagwise.estimators.classical.pooled import PooledClassifier
from bagwise.estimators.classical.scaled_bags import check_instances_fit, iterate_scaled_groups, scale_bags
from bagwise.nn.preprocessing import fit_scaling

GENERATOR = np.random.default_rng(0)
LABELS = np.array([0, 1] * 10)
BAGS = Bags.from_list([GENERATOR.normal(3 * label, size=(1 + row % 4, 3)) for row, label in enumerate(LABELS)])


@pytest.mark.parametrize("max_values", [1, 12, 1 << 20])
def test_iterate_scaled_groups_equals_scale_bags(monkeypatch, max_values):
    monkeypatch.setattr(scaled_bags, "VALUES_PER_GROUP", max_values)
    scaling, bags = fit_scaling(BAGS, "standard"), BAGS[::-1]
    groups = list(iterate_scaled_groups(bags, scaling))
    whole = scale_bags(bags, scaling)
    np.testing.assert_array_equal(np.concatenate([group.instances for group in groups]), whole.instances)
    assert [size for group in groups for size in group.sizes] == whole.sizes.tolist()
    assert all(group.n_instances * 3 <= max(max_values, 3 * group.sizes[0]) for group in groups)


@pytest.mark.parametrize("estimator", [PooledClassifier(), NaiveClassifier(), MISVM()], ids=lambda each: each.__class__)
def test_predictions_do_not_depend_on_the_groups(monkeypatch, estimator):
    model = estimator.set_params(random_state=0).fit(BAGS, LABELS)
    expected = model.predict_with_weights(BAGS)
    monkeypatch.setattr(scaled_bags, "VALUES_PER_GROUP", 12)
    for values, whole in zip(model.predict_with_weights(BAGS), expected, strict=True):
        np.testing.assert_allclose(values, whole, rtol=1e-12)


def test_check_instances_fit_names_the_need_and_the_available_memory(monkeypatch):
    monkeypatch.setattr(scaled_bags, "get_free_memory", lambda: 100)
    bags = Bags.trusted(instances=np.broadcast_to(np.zeros(1000), (10**6, 1000)), offsets=np.array([0, 10**6]))
    with pytest.raises(InputError, match=r"MISVM keeps all 1,000,000 .* needs about 24.0 GB, but only 0.0 GB are avai"):
        check_instances_fit(bags, "MISVM")
    monkeypatch.setattr(scaled_bags, "get_free_memory", lambda: None)
    check_instances_fit(bags, "MISVM")


@pytest.mark.parametrize("estimator", [MISVM(), NaiveClassifier()], ids=lambda each: each.__class__)
def test_fit_refuses_more_instances_than_fit_into_memory(monkeypatch, estimator):
    monkeypatch.setattr(scaled_bags, "get_free_memory", lambda: 100)
    with pytest.raises(InputError, match=f"{type(estimator).__name__} keeps all {BAGS.n_instances} training instances"):
        estimator.fit(BAGS, LABELS)
    PooledClassifier(random_state=0).fit(BAGS, LABELS)
