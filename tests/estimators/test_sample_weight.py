"""Weights of bags: zero excludes a bag from the loss, equal weights change nothing, invalid weights are refused."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

from bagwise.errors import InputError
from bagwise.estimators.bag_classifier import BagClassifier
from bagwise.estimators.classical.base import ClassicalEstimator
from bagwise.estimators.classical.majority import MajorityClassifier
from bagwise.estimators.classical.naive import NaiveClassifier
from bagwise.estimators.classical.pooled import PooledClassifier
from estimators.test_laws import CLASSES, NEEDLES, make_quick, name_of

LABELS = NEEDLES.labels
WEIGHTED = [
    BagClassifier(epochs=3, engine="torch", random_state=0),
    BagClassifier(epochs=3, engine="fused", random_state=0),
    PooledClassifier(LogisticRegression(), random_state=0),
    NaiveClassifier(LogisticRegression(), random_state=0),
    MajorityClassifier(),
]
CLASSICAL = [kind for kind in CLASSES if issubclass(kind, ClassicalEstimator)]
NAMES = ["torch", "fused", "pooled", "naive", "majority"]


@pytest.mark.parametrize("model", WEIGHTED, ids=NAMES)
def test_sample_weight_of_one_changes_nothing_and_other_weights_change_predictions(model):
    plain = clone(model).fit(NEEDLES, LABELS).predict_proba(NEEDLES)
    ones = clone(model).fit(NEEDLES, LABELS, sample_weight=np.ones(len(NEEDLES))).predict_proba(NEEDLES)
    np.testing.assert_array_equal(ones, plain)
    heavy = clone(model).fit(NEEDLES, LABELS, sample_weight=np.where(LABELS == 1, 9.0, 1.0)).predict_proba(NEEDLES)
    assert heavy[:, 1].mean() > plain[:, 1].mean()


@pytest.mark.parametrize("model", WEIGHTED, ids=NAMES)
def test_labels_of_bags_with_a_sample_weight_of_zero_do_not_matter(model):
    weights = (np.arange(len(NEEDLES)) >= 6).astype(float)
    flipped = np.where(weights == 0, 1 - LABELS, LABELS)
    first = clone(model).fit(NEEDLES, LABELS, sample_weight=weights)
    second = clone(model).fit(NEEDLES, flipped, sample_weight=weights)
    np.testing.assert_allclose(second.predict_proba(NEEDLES), first.predict_proba(NEEDLES), rtol=1e-6)


def test_sample_weight_multiplies_class_weight():
    model = BagClassifier(epochs=3, random_state=0)
    by_class = clone(model).set_params(class_weight={0: 1.0, 1: 4.0}).fit(NEEDLES, LABELS)
    by_bag = clone(model).fit(NEEDLES, LABELS, sample_weight=np.where(LABELS == 1, 4.0, 1.0))
    np.testing.assert_array_equal(by_bag.predict_proba(NEEDLES), by_class.predict_proba(NEEDLES))
    both = clone(model).set_params(class_weight={0: 1.0, 1: 0.5})
    both.fit(NEEDLES, LABELS, sample_weight=np.where(LABELS == 1, 8.0, 1.0))
    np.testing.assert_array_equal(both.predict_proba(NEEDLES), by_class.predict_proba(NEEDLES))


def test_pooled_classifier_with_a_weight_of_zero_equals_one_without_the_bag():
    weights = (np.arange(len(NEEDLES)) % 3 > 0).astype(float)
    model = PooledClassifier(LogisticRegression(), scaling="none", random_state=0)
    weighted = clone(model).fit(NEEDLES, LABELS, sample_weight=weights).predict_proba(NEEDLES)
    removed = clone(model).fit(NEEDLES[weights > 0], LABELS[weights > 0]).predict_proba(NEEDLES)
    np.testing.assert_allclose(weighted, removed, rtol=1e-3)


@pytest.mark.parametrize("model", WEIGHTED, ids=NAMES)
@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({3: -1.0}, "the sample_weight of bag 3 is -1.0; weights must be finite and at least 0"),
        ({5: np.nan}, "the sample_weight of bag 5 is nan"),
        ({5: np.inf}, "the sample_weight of bag 5 is inf"),
        (dict.fromkeys(range(40), 0.0), "every sample_weight is zero"),
    ],
    ids=["negative", "nan", "infinite", "zero"],
)
def test_fit_rejects_invalid_sample_weights(model, bad, message):
    weights = np.ones(len(NEEDLES))
    weights[list(bad)] = list(bad.values())
    with pytest.raises(InputError, match=message):
        clone(model).fit(NEEDLES, LABELS, sample_weight=weights)
    with pytest.raises(InputError, match=r"sample_weight has shape \(3,\) for 40 bags"):
        clone(model).fit(NEEDLES, LABELS, sample_weight=[1, 1, 1])
    with pytest.raises(InputError, match="sample_weight is not numeric"):
        clone(model).fit(NEEDLES, LABELS, sample_weight=["heavy"] * 40)


@pytest.mark.parametrize("kind", CLASSICAL, ids=name_of)
def test_methods_without_sample_weight_reject_it_by_name(kind):
    with pytest.raises(InputError, match=f"{kind.__name__} does not support sample_weight.*networks, PooledClassifier"):
        make_quick(kind).fit(NEEDLES, LABELS, sample_weight=np.ones(len(NEEDLES)))


def test_a_classifier_without_sample_weight_is_named():
    with pytest.raises(InputError, match="KNeighborsClassifier does not support weights"):
        PooledClassifier(KNeighborsClassifier()).fit(NEEDLES, LABELS, sample_weight=np.ones(len(NEEDLES)))


def test_validation_bags_without_weight_are_rejected():
    model = BagClassifier(epochs=1, validation=0.2, random_state=0)
    only = np.zeros(len(NEEDLES))
    only[0] = 1.0
    with pytest.raises(InputError, match=r"class . has only one bag, but both parts need one"):
        model.fit(NEEDLES, LABELS, sample_weight=only)
    model.set_params(class_weight={0: 1.0, 1: 0.0}, validation=None)
    with pytest.raises(InputError, match="all training bags or all validation bags have a weight of 0"):
        model.fit(NEEDLES, LABELS, sample_weight=(LABELS == 1).astype(float))


def test_a_checkpoint_of_other_sample_weights_is_rejected(tmp_path):
    model = BagClassifier(epochs=2, random_state=0)
    weights = np.ones(len(NEEDLES))
    model.fit(NEEDLES, LABELS, sample_weight=weights, checkpoint=tmp_path / "state")
    model.fit(NEEDLES, LABELS, sample_weight=weights, checkpoint=tmp_path / "state")
    with pytest.raises(InputError, match="sample_weight"):
        model.fit(NEEDLES, LABELS, sample_weight=weights * 2, checkpoint=tmp_path / "state")
