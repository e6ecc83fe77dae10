"""Estimators find their features by name, so that the order of the columns of a table never matters."""

import warnings

import numpy as np
import pandas as pd
import pytest

from bagwise.bags.bags import Bags
from bagwise.errors import InputError
from bagwise.estimators.bag_classifier import BagClassifier
from bagwise.estimators.base import BagEstimator
from bagwise.estimators.classical.pooled import PooledClassifier
from bagwise.estimators.meta.ensemble import Ensemble
from bagwise.estimators.registry import build_method

GENERATOR = np.random.default_rng(0)
NAMES = ["mass", "charge", "angle"]
FRAME = pd.DataFrame(GENERATOR.normal(size=(40, 3)) * [1, 5, 20], columns=NAMES).assign(
    bag=np.repeat(np.arange(20), 2), label=np.repeat(np.arange(20) % 2, 2)
)
BAGS = Bags.from_frame(FRAME, bag="bag")
METHODS = ("extra trees", "MI-SVM", "MI-Kernel")


def make_models():
    yield BagClassifier(epochs=2, random_state=0)
    yield Ensemble(PooledClassifier(), n=2, random_state=0)
    yield from (build_method(name, random_state=0) for name in METHODS)


@pytest.mark.parametrize("model", list(make_models()), ids=["network", "ensemble", *METHODS])
def test_predictions_do_not_depend_on_the_order_of_the_columns(model, tmp_path):
    model.fit(BAGS, BAGS.labels)
    assert model.feature_names_in_.tolist() == NAMES
    reversed_bags = Bags.from_frame(FRAME[FRAME.columns[::-1]], bag="bag")
    assert reversed_bags.feature_names == tuple(NAMES[::-1])
    model.save(tmp_path / "model")
    for fitted in (model, BagEstimator.load(tmp_path / "model")):
        np.testing.assert_array_equal(fitted.predict_proba(reversed_bags), model.predict_proba(BAGS))
        np.testing.assert_array_equal(fitted.weigh(reversed_bags), model.weigh(BAGS))


def test_missing_and_unknown_features_are_rejected_by_name():
    model = BagClassifier(epochs=1, random_state=0).fit(BAGS, BAGS.labels)
    renamed = Bags.from_frame(FRAME.rename(columns={"mass": "weight"}), bag="bag")
    with pytest.raises(InputError, match="missing: 'mass'; unknown: 'weight'"):
        model.predict(renamed)
    with pytest.raises(InputError, match="missing: 'mass'"):
        model.predict(Bags.from_frame(FRAME.drop(columns="mass"), bag="bag"))
    with pytest.raises(InputError, match="unknown: 'extra'"):
        model.fit(BAGS, BAGS.labels, validation=(Bags.from_frame(FRAME.assign(extra=0), bag="bag"), BAGS.labels))


def test_names_of_only_one_side_are_matched_by_position_with_a_warning():
    unnamed = BAGS.replace(feature_names=None)
    model = BagClassifier(epochs=1, random_state=0).fit(BAGS, BAGS.labels)
    expected = model.predict_proba(BAGS)
    with pytest.warns(UserWarning, match="only the training bags have feature names"):
        np.testing.assert_array_equal(model.predict_proba(unnamed), expected)
    model.fit(unnamed, BAGS.labels)
    assert not hasattr(model, "feature_names_in_")
    with pytest.warns(UserWarning, match="only the bags to predict have feature names"):
        model.predict_proba(BAGS)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict_proba(unnamed)
