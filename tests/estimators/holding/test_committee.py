import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression

from bagwise.datasets import load_dataset
from bagwise.errors import InputError
from bagwise.estimators import BagClassifier, BagEstimator, Committee, MIKernel, PooledClassifier
from bagwise.estimators.holding.committee import default_members

NEEDLES = load_dataset("needles", n_bags=30)
TEST = load_dataset("needles", n_bags=30, seed=1)
FOREST = PooledClassifier(ExtraTreesClassifier(5))


def test_members_are_copies_of_what_was_given_in_its_order():
    given = {"kernel": MIKernel(calibration=0), "trees": FOREST}
    committee = Committee(given, random_state=7).fit(NEEDLES, NEEDLES.labels)
    seeds = [member.random_state for member in committee.members_]
    copies = [clone(each).set_params(random_state=seed) for each, seed in zip(given.values(), seeds, strict=True)]
    assert [repr(member) for member in committee.members_] == [repr(copy) for copy in copies]
    assert len(set(seeds)) == 2
    assert not hasattr(given["trees"], "learned_")


def test_equal_members_have_seeds_of_their_own():
    twins = Committee({"first": FOREST, "second": FOREST}, random_state=1).fit(NEEDLES, NEEDLES.labels)
    assert twins.spread(TEST).probabilities.any()


def test_the_default_members_learn_and_are_saved_as_one(tmp_path):
    members = default_members()
    members["gated attention"].set_params(epochs=1, engine="torch")  # to be quick
    committee = Committee(members, random_state=0).fit(NEEDLES, NEEDLES.labels)
    committee.save(tmp_path / "model")
    again = BagEstimator.load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict_proba(TEST), committee.predict_proba(TEST))
    np.testing.assert_array_equal(again.weigh(TEST), committee.weigh(TEST))


def test_the_default_members_know_several_classes_and_are_new_each_time():
    assert Committee().__sklearn_tags__().classifier_tags.multi_class
    first, second = default_members(), default_members()
    assert not {id(each) for each in first.values()} & {id(each) for each in second.values()}


def test_a_saved_committee_outlives_a_change_of_the_default_members(tmp_path, monkeypatch):
    place = "bagwise.estimators.holding.committee.default_members"
    monkeypatch.setattr(place, lambda: {"trees": FOREST, "more trees": FOREST})
    committee = Committee(random_state=0).fit(NEEDLES, NEEDLES.labels)
    assert len(committee.members_) == 2
    committee.save(tmp_path / "model")
    monkeypatch.setattr(place, lambda: {"other": BagClassifier()})
    again = Committee.load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict_proba(TEST), committee.predict_proba(TEST))


@pytest.mark.parametrize(
    ("estimators", "message"),
    [
        ({}, r"estimators is \{\} \(dict\); give each member a name"),
        ([FOREST], "give each member a name, e.g."),
        ({"line": LogisticRegression()}, r"estimators\['line'\] is LogisticRegression.*; give an estimator of bags"),
        ({"word": "attention"}, r"estimators\['word'\] is 'attention' \(str\); give an estimator of bags"),
    ],
    ids=str,
)
def test_what_makes_no_committee_is_refused(estimators, message):
    with pytest.raises(InputError, match=message):
        Committee(estimators).fit(NEEDLES, NEEDLES.labels)
