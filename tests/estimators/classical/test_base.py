"""Tests of the base class of the classical methods with a method whose results are known."""

from dataclasses import dataclass

import numpy as np
import pytest

from bagwise.bags.bags import Bags
from bagwise.errors import InputError
from bagwise.estimators.calibration import MajorityWarning
from bagwise.estimators.classical.base import (
    CALIBRATION_FOLDS,
    ClassicalEstimator,
    FittedState,
    normalize_weights,
    scaling_from_tensors,
    scaling_to_tensors,
    state_from_arrays,
    state_to_arrays,
)
from bagwise.estimators.classical.mi_svm import MISVM
from bagwise.estimators.classical.scaled_bags import scale_bags
from bagwise.nn.preprocessing import Scaling

GENERATOR = np.random.default_rng(0)
LABELS = np.array([0, 1] * 20)
BAGS = Bags.from_list([GENERATOR.normal(loc=(50 + 9 * label, 7), size=(4, 2)) for label in LABELS])


@dataclass(frozen=True)
class MeanState(FittedState):
    """A state that scores the first feature minus its mean over the training rows."""

    mean: float

    def scores(self, bags):
        return np.maximum.reduceat(bags.instances[:, :1] - self.mean, bags.offsets[:-1])

    def shares(self, bags):
        return np.repeat(bags.sizes, bags.sizes).astype(float)  # not normalised


@dataclass(frozen=True)
class InstanceMeanState(MeanState):
    def instance_scores(self, bags):
        return bags.instances[:, :1] - self.mean


class Thresholding(ClassicalEstimator):
    """A method that records the rows it was fitted to."""

    learns = InstanceMeanState
    multi_class = False

    def __init__(self, scaling="standard", calibration=True, random_state=0):
        self.scaling = scaling
        self.calibration = calibration
        self.random_state = random_state

    def _learn(self, bags, targets, seed):
        assert bags.labels is None
        assert bags.groups is None
        self.rows_ = [*getattr(self, "rows_", []), bags.instances]
        return self.learns(float(bags.instances[:, 0].mean()))


class BagThresholding(Thresholding):
    learns = MeanState
    multi_class = True


@dataclass(frozen=True)
class Line:
    slope: np.ndarray
    intercept: float


@dataclass(frozen=True)
class Nested:
    line: Line
    n_points: int
    closed: bool
    labels: np.ndarray


def test_state_from_arrays_inverts_state_to_arrays():
    state = Nested(Line(np.array([1.5, -0.0]), 0.1), 3, True, np.array([2, 1], dtype=np.int32))
    tensors = state_to_arrays(state, "learned.")
    assert set(tensors) == {
        *("learned.line.slope", "learned.line.intercept", "learned.n_points", "learned.closed", "learned.labels"),
    }
    restored = state_from_arrays(Nested, tensors, "learned.")
    assert (restored.line.intercept, restored.n_points, restored.closed) == (0.1, 3, True)
    assert [type(value) for value in (restored.line.intercept, restored.n_points, restored.closed)] == [
        float,
        int,
        bool,
    ]
    np.testing.assert_array_equal(restored.line.slope, state.line.slope)
    assert np.signbit(restored.line.slope[1])
    assert restored.labels.dtype == np.int32


def test_scaling_from_tensors_inverts_scaling_to_tensors():
    scaling = Scaling(np.array([1.0, 2.0]), np.array([3.0, 0.5]))
    restored = scaling_from_tensors(scaling_to_tensors(scaling))
    np.testing.assert_array_equal(restored.center, scaling.center)
    np.testing.assert_array_equal(restored.scale, scaling.scale)


def test_scale_bags_keeps_only_scaled_rows():
    bags = Bags.from_list([np.array([[1.0, 2.0], [3.0, 4.0]])], labels=[1], groups=["a"])
    scaled = scale_bags(bags, Scaling(np.array([1.0, 2.0]), np.array([2.0, 1.0])))
    np.testing.assert_allclose(scaled.instances, [[0, 0], [1, 2]])
    assert scaled.labels is None
    assert scaled.groups is None


def test_normalize_weights_gives_a_single_instance_exactly_one():
    bags = Bags.from_list([np.zeros((1, 1)), np.zeros((2, 1))])
    np.testing.assert_array_equal(normalize_weights(np.array([0.3, 1.0, 3.0]), bags), [1, 0.25, 0.75])


def test_fit_scales_rows_by_the_training_bags():
    model = Thresholding(calibration=False).fit(BAGS, LABELS)
    np.testing.assert_allclose(model.rows_[0].mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(model.rows_[0].std(axis=0), 1)
    shifted = BAGS.map(lambda rows: rows + 1000)
    assert (model.decision_function(shifted) > model.decision_function(BAGS) + 50).all()
    unscaled = Thresholding(scaling="none", calibration=False).fit(BAGS, LABELS)
    np.testing.assert_allclose(unscaled.rows_[0], BAGS.instances)


def test_calibration_changes_probabilities_but_not_the_ranking():
    plain, calibrated = (Thresholding(calibration=switch).fit(BAGS, LABELS) for switch in (False, True))
    assert plain.calibration_ == (1.0, [0.0])
    assert plain.held_out_loss_ is None
    assert calibrated.calibration_.slope != 1.0
    assert calibrated.held_out_loss_.majority == pytest.approx(np.log(2))
    ranks = [np.argsort(model.predict_proba(BAGS)[:, 1], kind="stable") for model in (plain, calibrated)]
    np.testing.assert_array_equal(*ranks)


def test_decision_function_is_the_log_odds_of_the_predicted_probability():
    plain, calibrated = (Thresholding(calibration=switch).fit(BAGS, LABELS) for switch in (False, True))
    expected = calibrated.calibration_.slope * plain.decision_function(BAGS) + calibrated.calibration_.offset
    np.testing.assert_allclose(calibrated.decision_function(BAGS), expected, rtol=1e-12)
    np.testing.assert_allclose(calibrated.predict_proba(BAGS)[:, 1], 1 / (1 + np.exp(-expected)), rtol=1e-12)


def test_fit_warns_if_the_class_shares_predict_held_out_bags_better():
    labels = np.random.default_rng(3).permutation(LABELS)
    with pytest.warns(MajorityWarning, match="Thresholding does not beat the majority on its own held-out bags"):
        model = Thresholding().fit(BAGS, labels)
    assert not model.held_out_loss_.beats_majority


def test_load_restores_calibration_and_held_out_loss(tmp_path):
    model = MISVM(random_state=0).fit(BAGS, LABELS)
    model.save(tmp_path / "model")
    restored = MISVM.load(tmp_path / "model")
    assert restored.calibration_ == model.calibration_
    assert restored.held_out_loss_ == model.held_out_loss_


def test_calibration_scales_each_fold_by_its_own_training_bags():
    model = Thresholding().fit(BAGS, LABELS)
    assert len(model.rows_) == 1 + CALIBRATION_FOLDS
    for rows in model.rows_:  # first all bags, then all but one fold
        np.testing.assert_allclose(rows.mean(axis=0), 0, atol=1e-12)
        np.testing.assert_allclose(rows.std(axis=0), 1)


def test_weigh_normalises_the_weights_of_the_state():
    np.testing.assert_allclose(Thresholding(calibration=False).fit(BAGS, LABELS).weigh(BAGS), 1 / 4)


def test_score_instances_is_available_if_the_state_scores_instances():
    assert not hasattr(BagThresholding(), "score_instances")
    model = Thresholding(calibration=False).fit(BAGS, LABELS)
    scores = model.score_instances(BAGS)
    np.testing.assert_allclose(np.maximum.reduceat(scores, BAGS.offsets[:-1]), model.decision_function(BAGS))


def test_multi_class_sets_the_tag_of_scikit_learn():
    assert BagThresholding().__sklearn_tags__().classifier_tags.multi_class
    assert not Thresholding().__sklearn_tags__().classifier_tags.multi_class


def test_fit_rejects_three_classes_and_states_the_reason():
    message = "Thresholding predicts whether a bag contains a positive instance, but y has the classes 0, 1, 2"
    with pytest.raises(InputError, match=message):
        Thresholding().fit(BAGS, np.arange(40) % 3)


def test_fit_rejects_invalid_parameters_by_name():
    with pytest.raises(InputError, match="calibration is 1"):
        Thresholding(calibration=1).fit(BAGS, LABELS)
    with pytest.raises(InputError, match="scaling 'no' is unknown"):
        Thresholding(scaling="no").fit(BAGS, LABELS)


def test_predict_rejects_zero_bags():
    with pytest.raises(InputError, match="there are no bags to predict"):
        Thresholding().fit(BAGS, LABELS).predict(BAGS[:0])
