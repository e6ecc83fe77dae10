import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from torch import nn

from bagwise.data.datasets.registry import load_dataset
from bagwise.errors import InputError
from bagwise.estimators.bag_classifier import BagClassifier
from bagwise.estimators.classical.mi_fv import MiFV
from bagwise.estimators.classical.pooled import PooledClassifier
from bagwise.estimators.meta.ensemble import Ensemble

NEEDLES = load_dataset("needles", n_bags=30)
TEST = load_dataset("needles", n_bags=30, seed=1)
WORDS = np.where(NEEDLES.labels == 1, "tumour", "normal")
FOREST = PooledClassifier(ExtraTreesClassifier(5))


def test_fit_fits_copies_that_differ_only_in_their_seed():
    ensemble = Ensemble(FOREST, n=3, random_state=7).fit(NEEDLES, WORDS)
    copies = [clone(FOREST).set_params(random_state=member.random_state) for member in ensemble.members_]
    assert [repr(member) for member in ensemble.members_] == [repr(copy) for copy in copies]
    assert len({member.random_state for member in ensemble.members_}) == 3
    assert FOREST.random_state is None, "the original is not changed"


def test_ensemble_of_one_copy_has_the_predictions_of_the_copy():
    ensemble = Ensemble(FOREST, n=1, random_state=3).fit(NEEDLES, WORDS)
    member = ensemble.members_[0]
    np.testing.assert_array_equal(ensemble.predict_proba(TEST), member.predict_proba(TEST))
    np.testing.assert_array_equal(ensemble.weigh(TEST), member.weigh(TEST))
    assert not ensemble.spread(TEST).outputs.any()


def test_grid_search_can_set_parameters_of_the_estimator():
    grid = GridSearchCV(Ensemble(MiFV(calibration=False), n=2), {"estimator__C": [0.1, 1.0]}, cv=2).fit(NEEDLES, WORDS)
    assert grid.best_params_["estimator__C"] == grid.best_estimator_.members_[0].C


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n": 0}, "n is 0"),
        ({"n": 2.5}, "n is 2.5"),
        ({"estimator": LogisticRegression()}, "estimator is LogisticRegression.* it must be a bag estimator"),
    ],
    ids=str,
)
def test_fit_rejects_invalid_parameters_by_name(parameters, message):
    with pytest.raises(InputError, match=message):
        Ensemble(**parameters).fit(NEEDLES, WORDS)


@pytest.mark.parametrize("member", [BagClassifier(epochs=2), PooledClassifier()], ids=["threads", "processes"])
def test_fit_does_not_depend_on_the_number_of_workers(member):
    serial, parallel = (
        Ensemble(member, n=3, workers=workers, random_state=0).fit(NEEDLES, NEEDLES.labels) for workers in (1, 2)
    )
    np.testing.assert_array_equal(serial.predict_proba(NEEDLES), parallel.predict_proba(NEEDLES))
    np.testing.assert_array_equal(serial.weigh(NEEDLES), parallel.weigh(NEEDLES))


def test_fit_with_custom_modules_does_not_depend_on_the_number_of_workers():
    encoder = nn.Sequential(nn.Linear(16, 4), nn.Dropout(0.5))
    serial, parallel = (
        Ensemble(BagClassifier(encoder=encoder, epochs=2), n=2, workers=workers, random_state=0).fit(
            NEEDLES, NEEDLES.labels
        )
        for workers in (1, 2)
    )
    np.testing.assert_array_equal(serial.predict_proba(NEEDLES), parallel.predict_proba(NEEDLES))
