import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression

from bagwise.data.datasets.registry import load_dataset
from bagwise.errors import InputError
from bagwise.estimators.bag_classifier import BagClassifier
from bagwise.estimators.base import BagEstimator
from bagwise.estimators.classical.mi_kernel import MIKernel
from bagwise.estimators.classical.pooled import PooledClassifier
from bagwise.estimators.meta.committee import Committee, make_default_members

NEEDLES = load_dataset("needles", n_bags=30)
TEST = load_dataset("needles", n_bags=30, seed=1)
FOREST = PooledClassifier(ExtraTreesClassifier(5))


def test_fit_fits_copies_of_the_estimators_in_their_order():
    given = {"kernel": MIKernel(calibration=False), "trees": FOREST}
    committee = Committee(given, random_state=7).fit(NEEDLES, NEEDLES.labels)
    seeds = [member.random_state for member in committee.members_]
    copies = [clone(each).set_params(random_state=seed) for each, seed in zip(given.values(), seeds, strict=True)]
    assert [repr(member) for member in committee.members_] == [repr(copy) for copy in copies]
    assert len(set(seeds)) == 2
    assert not hasattr(given["trees"], "learned_")


def test_fit_gives_equal_estimators_different_seeds():
    twins = Committee({"first": FOREST, "second": FOREST}, random_state=1).fit(NEEDLES, NEEDLES.labels)
    assert twins.spread(TEST).outputs.any()


def test_make_default_members_can_be_fitted_saved_and_loaded(tmp_path):
    members = make_default_members()
    members["gated attention"].set_params(epochs=1, engine="torch")  # quick to fit
    committee = Committee(members, random_state=0).fit(NEEDLES, NEEDLES.labels)
    committee.save(tmp_path / "model")
    loaded = BagEstimator.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict_proba(TEST), committee.predict_proba(TEST))
    np.testing.assert_array_equal(loaded.weigh(TEST), committee.weigh(TEST))


def test_make_default_members_returns_new_members_that_support_many_classes():
    assert Committee().__sklearn_tags__().classifier_tags.multi_class
    first, second = make_default_members(), make_default_members()
    assert not {id(each) for each in first.values()} & {id(each) for each in second.values()}


def test_load_does_not_depend_on_the_current_default_members(tmp_path, monkeypatch):
    place = "bagwise.estimators.meta.committee.make_default_members"
    monkeypatch.setattr(place, lambda: {"trees": FOREST, "more trees": FOREST})
    committee = Committee(random_state=0).fit(NEEDLES, NEEDLES.labels)
    assert len(committee.members_) == 2
    committee.save(tmp_path / "model")
    monkeypatch.setattr(place, lambda: {"other": BagClassifier()})
    loaded = Committee.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict_proba(TEST), committee.predict_proba(TEST))


@pytest.mark.parametrize(
    ("estimators", "message"),
    [
        ({}, r"estimators is \{\} \(dict\); it must be a dict of named estimators"),
        ([FOREST], "it must be a dict of named estimators"),
        (
            {"line": LogisticRegression()},
            r"estimators\['line'\] is LogisticRegression.*; it must be a bag estimator",
        ),
        ({"word": "attention"}, r"estimators\['word'\] is 'attention' \(str\); it must be a bag estimator"),
    ],
    ids=str,
)
def test_fit_rejects_invalid_estimators_by_name(estimators, message):
    with pytest.raises(InputError, match=message):
        Committee(estimators).fit(NEEDLES, NEEDLES.labels)
