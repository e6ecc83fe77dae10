import numpy as np
import pytest
from scipy.special import expit, logit

from bagwise.data.datasets.registry import load_dataset
from bagwise.errors import InputError
from bagwise.estimators.classical.pooled import PooledClassifier
from bagwise.estimators.meta.adjusted import Adjusted

NEEDLES = load_dataset("needles", n_bags=60)


class Overconfident(PooledClassifier):
    """A classifier whose log-odds are five times too large and biased towards the negative class."""

    def predict_outputs(self, X):
        positive = expit(5 * (logit(np.clip(super().predict_outputs(X)[:, 1], 0.01, 0.99)) - 0.5))
        return np.stack([1 - positive, positive], axis=1)


def test_calibration_decreases_the_loss_on_new_bags_and_keeps_their_ranking():
    new_bags = load_dataset("needles", n_bags=60, seed=9)
    model = Adjusted(Overconfident(), random_state=0).fit(NEEDLES, NEEDLES.labels)
    before, after = model.model_.predict_proba(new_bags), model.predict_proba(new_bags)
    slope, offset = model.calibration_
    assert 0 < slope < 1
    losses = [-np.log(probabilities[np.arange(60), new_bags.labels]).mean() for probabilities in (before, after)]
    assert losses[1] < losses[0]
    np.testing.assert_array_equal(np.argsort(before[:, 1], kind="stable"), np.argsort(after[:, 1], kind="stable"))
    np.testing.assert_allclose(after[:, 1], expit(slope * logit(before[:, 1]) + offset[0]), rtol=1e-9)
    np.testing.assert_array_equal(model.predict_with_weights(new_bags).outputs, after)


def test_threshold_changes_only_the_decision():
    model = Adjusted(Overconfident(), calibration=False, threshold=True, random_state=0).fit(NEEDLES, NEEDLES.labels)
    probabilities = model.predict_proba(NEEDLES)
    np.testing.assert_array_equal(probabilities, model.model_.predict_proba(NEEDLES))
    assert 0 < model.decision_threshold < 0.5  # the model is biased towards the negative class
    np.testing.assert_array_equal(model.predict(NEEDLES), probabilities[:, 1] > model.decision_threshold)


def test_fit_learns_the_calibration_from_bags_that_the_model_was_not_fitted_to():
    fitted, predicted = [], []

    class Recorder(PooledClassifier):
        def fit(self, X, y=None):
            fitted.extend(X.names)
            return super().fit(X, y)

        def predict_outputs(self, X):
            predicted.extend(X.names)
            return super().predict_outputs(X)

    Adjusted(Recorder(), share=0.25).fit(NEEDLES, NEEDLES.labels)
    assert not set(fitted) & set(predicted)
    assert sorted([*fitted, *predicted]) == sorted(NEEDLES.names)


def test_fit_keeps_groups_together():
    groups, fitted = np.arange(60) // 3, []

    class Recorder(PooledClassifier):
        def fit(self, X, y=None):
            fitted.extend(X.groups)
            return super().fit(X, y)

        def predict_outputs(self, X):
            assert not set(X.groups) & set(fitted)
            return super().predict_outputs(X)

    Adjusted(Recorder(), random_state=0).fit(NEEDLES.replace(groups=groups), NEEDLES.labels)
    assert fitted


def test_fit_rejects_invalid_parameters_by_name():
    with pytest.raises(InputError, match="share is 1"):
        Adjusted(share=1.0).fit(NEEDLES, NEEDLES.labels)
    with pytest.raises(InputError, match="calibration is 'no'"):
        Adjusted(calibration="no").fit(NEEDLES, NEEDLES.labels)
    with pytest.raises(InputError, match="a threshold decides between two classes, but y has the classes 0, 1, 2"):
        Adjusted(threshold=True).fit(NEEDLES, np.arange(60) % 3)
