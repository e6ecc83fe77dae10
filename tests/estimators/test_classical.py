"""The base of the classical methods, on a method so simple that everything can be said in advance."""

from dataclasses import dataclass

import numpy as np
import pytest

from bagwise.bags import Bags
from bagwise.errors import InputError
from bagwise.estimators.classical import InstanceEstimator
from bagwise.estimators.learned import LearnedInstances

DRAWS = np.random.default_rng(0)
LABELS = np.array([0, 1] * 20)
BAGS = Bags.from_list([DRAWS.normal(loc=(50 + 9 * label, 7), size=(4, 2)) for label in LABELS])


@dataclass(frozen=True)
class Middle(LearnedInstances):
    """The first feature against the middle of the training rows."""

    middle: float

    def scores(self, bags):
        return np.maximum.reduceat(self.instance_scores(bags), bags.offsets[:-1])

    def shares(self, bags):
        return 1 / np.repeat(bags.sizes, bags.sizes)

    def instance_scores(self, bags):
        return bags.instances[:, :1] - self.middle


class Threshold(InstanceEstimator):
    learns = Middle

    def __init__(self, standardize=True, calibration=3, random_state=0):
        self.standardize = standardize
        self.calibration = calibration
        self.random_state = random_state

    def _learn(self, bags, targets, seed):
        assert bags.labels is None
        assert bags.groups is None
        self.rows_ = bags.instances
        self.learned_from_ = [*getattr(self, "learned_from_", []), bags.instances]
        return Middle(float(bags.instances[:, 0].mean()))


def test_rows_are_scaled_by_the_training_bags():
    model = Threshold(calibration=0).fit(BAGS, LABELS)
    np.testing.assert_allclose(model.rows_.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(model.rows_.std(axis=0), 1)
    shifted = BAGS.map(lambda rows: rows + 1000)
    assert (model.decision_function(shifted) > model.decision_function(BAGS) + 50).all()
    np.testing.assert_allclose(Threshold(standardize=False, calibration=0).fit(BAGS, LABELS).rows_, BAGS.instances)


def test_calibration_changes_how_sure_but_never_what_is_decided():
    plain, calibrated = (Threshold(calibration=folds).fit(BAGS, LABELS) for folds in (0, 3))
    assert plain.slope_ == 1.0
    assert calibrated.slope_ != 1.0
    np.testing.assert_array_equal(plain.decision_function(BAGS), calibrated.decision_function(BAGS))
    np.testing.assert_array_equal(plain.predict(BAGS), calibrated.predict(BAGS))
    ranks = [np.argsort(model.predict_proba(BAGS)[:, 1], kind="stable") for model in (plain, calibrated)]
    np.testing.assert_array_equal(*ranks)


def test_held_out_bags_have_no_say_in_the_scaling_of_their_calibration():
    model = Threshold(calibration=2).fit(BAGS, LABELS)
    assert len(model.learned_from_) == 3
    for rows in model.learned_from_:  # of all bags, then of each half: scaled by themselves and by no others
        np.testing.assert_allclose(rows.mean(axis=0), 0, atol=1e-12)
        np.testing.assert_allclose(rows.std(axis=0), 1)


def test_three_classes_are_refused_with_the_reason():
    with pytest.raises(InputError, match="asks whether a bag holds a positive instance, and y has 3 classes"):
        Threshold().fit(BAGS, np.arange(40) % 3)


def test_an_empty_selection_is_refused():
    with pytest.raises(InputError, match="there are no bags to predict"):
        Threshold().fit(BAGS, LABELS).predict(BAGS[:0])
