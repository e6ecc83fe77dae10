import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from torch import nn

from bagwise.datasets import load_dataset
from bagwise.errors import InputError
from bagwise.estimators import BagClassifier, Ensemble, MiFV, PooledClassifier

NEEDLES = load_dataset("needles", n_bags=30)
TEST = load_dataset("needles", n_bags=30, seed=1)
WORDS = np.where(NEEDLES.labels == 1, "tumour", "normal")
FOREST = PooledClassifier(ExtraTreesClassifier(5))


def test_members_are_copies_that_differ_in_their_seed_alone():
    ensemble = Ensemble(FOREST, n=3, random_state=7).fit(NEEDLES, WORDS)
    copies = [clone(FOREST).set_params(random_state=member.random_state) for member in ensemble.members_]
    assert [repr(member) for member in ensemble.members_] == [repr(copy) for copy in copies]
    assert len({member.random_state for member in ensemble.members_}) == 3
    assert FOREST.random_state is None, "what was given stays as it was"


def test_an_ensemble_of_one_is_its_member():
    one = Ensemble(FOREST, n=1, random_state=3).fit(NEEDLES, WORDS)
    member = one.members_[0]
    np.testing.assert_array_equal(one.predict_proba(TEST), member.predict_proba(TEST))
    np.testing.assert_array_equal(one.weigh(TEST), member.weigh(TEST))
    assert not one.spread(TEST).probabilities.any()


def test_parameters_of_the_members_can_be_searched():
    grid = GridSearchCV(Ensemble(MiFV(calibration=0), n=2), {"estimator__C": [0.1, 1.0]}, cv=2).fit(NEEDLES, WORDS)
    assert grid.best_params_["estimator__C"] == grid.best_estimator_.members_[0].C


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n": 0}, "n is 0"),
        ({"n": 2.5}, "n is 2.5"),
        ({"estimator": LogisticRegression()}, "give an estimator of bags"),
    ],
    ids=str,
)
def test_what_makes_no_ensemble_is_refused(parameters, message):
    with pytest.raises(InputError, match=message):
        Ensemble(**parameters).fit(NEEDLES, WORDS)


@pytest.mark.parametrize("member", [BagClassifier(epochs=2), PooledClassifier()], ids=["threads", "processes"])
def test_the_number_of_workers_changes_nothing(member):
    alone, together = (
        Ensemble(member, n=3, workers=workers, random_state=0).fit(NEEDLES, NEEDLES.labels) for workers in (1, 2)
    )
    np.testing.assert_array_equal(alone.predict_proba(NEEDLES), together.predict_proba(NEEDLES))
    np.testing.assert_array_equal(alone.weigh(NEEDLES), together.weigh(NEEDLES))


def test_members_with_modules_of_the_users_own_are_trained_in_processes_to_the_same_bits():
    encoder = nn.Sequential(nn.Linear(16, 4), nn.Dropout(0.5))
    alone, together = (
        Ensemble(BagClassifier(encoder=encoder, epochs=2), n=2, workers=workers, random_state=0).fit(
            NEEDLES, NEEDLES.labels
        )
        for workers in (1, 2)
    )
    np.testing.assert_array_equal(alone.predict_proba(NEEDLES), together.predict_proba(NEEDLES))
