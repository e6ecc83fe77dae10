import numpy as np
import pytest
from scipy.special import expit, logit

from bagwise.datasets import load_dataset
from bagwise.errors import InputError
from bagwise.estimators import Adjusted, PooledClassifier

NEEDLES = load_dataset("needles", n_bags=60)


class TooSure(PooledClassifier):
    """Says everything five times as surely as it should, and tends to no."""

    def predict_proba(self, X):
        positive = expit(5 * (logit(np.clip(super().predict_proba(X)[:, 1], 0.01, 0.99)) - 0.5))
        return np.stack([1 - positive, positive], axis=1)


def loss(probabilities):
    return -np.log(probabilities[np.arange(60), NEEDLES.labels]).mean()


def test_a_temperature_makes_probabilities_honest_and_leaves_the_order():
    fresh = load_dataset("needles", n_bags=60, seed=9)
    model = Adjusted(TooSure(), random_state=0).fit(NEEDLES, NEEDLES.labels)
    before, after = model.model_.predict_proba(fresh), model.predict_proba(fresh)
    temperature = model.adjustment_.temperature
    assert temperature > 1
    truth = fresh.labels
    losses = [-np.log(each[np.arange(60), truth]).mean() for each in (before, after)]
    assert losses[1] < losses[0]
    np.testing.assert_array_equal(np.argsort(before[:, 1], kind="stable"), np.argsort(after[:, 1], kind="stable"))
    np.testing.assert_array_equal(model.predict(fresh), model.model_.predict(fresh))
    np.testing.assert_allclose(
        after,
        (before ** (1 / temperature)) / (before ** (1 / temperature)).sum(1, keepdims=True),
        rtol=1e-6,
    )


def test_a_threshold_moves_the_decision_and_nothing_else():
    model = Adjusted(TooSure(), temperature=False, threshold=True, random_state=0).fit(NEEDLES, NEEDLES.labels)
    probabilities = model.predict_proba(NEEDLES)
    np.testing.assert_array_equal(probabilities, model.model_.predict_proba(NEEDLES))
    assert 0 < model.decision_threshold < 0.5  # of a model that tends to no
    np.testing.assert_array_equal(model.predict(NEEDLES), probabilities[:, 1] > model.decision_threshold)


def test_both_are_learned_from_bags_that_the_model_did_not_see():
    seen, judged = [], []

    class Watcher(PooledClassifier):
        def fit(self, X, y=None):
            seen.extend(X.names)
            return super().fit(X, y)

        def predict_proba(self, X):
            judged.extend(X.names)
            return super().predict_proba(X)

    Adjusted(Watcher(), share=0.25).fit(NEEDLES, NEEDLES.labels)
    assert not set(seen) & set(judged)
    assert sorted([*seen, *judged]) == sorted(NEEDLES.names)


def test_what_cannot_be_is_refused():
    with pytest.raises(InputError, match="share is 1"):
        Adjusted(share=1.0).fit(NEEDLES, NEEDLES.labels)
    with pytest.raises(InputError, match="decides between two classes, and y has 3"):
        Adjusted(threshold=True).fit(NEEDLES, np.arange(60) % 3)


def test_groups_are_never_torn_apart():
    groups = np.arange(60) // 3
    seen = []

    class Watcher(PooledClassifier):
        def fit(self, X, y=None):
            seen.extend(X.groups)
            return super().fit(X, y)

        def predict_proba(self, X):
            assert not set(X.groups) & set(seen)
            return super().predict_proba(X)

    Adjusted(Watcher(), random_state=0).fit(NEEDLES.replace(groups=groups), NEEDLES.labels)
    assert seen


def test_a_seed_that_was_given_is_kept():
    model = Adjusted(PooledClassifier(random_state=7)).fit(NEEDLES, NEEDLES.labels)
    assert model.model_.random_state == 7


def test_words_are_not_taken_for_yes():
    with pytest.raises(InputError, match="temperature is 'no'"):
        Adjusted(temperature="no").fit(NEEDLES, NEEDLES.labels)
