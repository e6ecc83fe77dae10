import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics as reference

from bagwise.evaluation.bag_metrics import auc, average_precision, bag_metrics


def draw(seed, n_classes, n_bags=60, ties=True):
    generator = np.random.default_rng(seed)
    targets = np.concatenate([np.arange(n_classes), generator.integers(n_classes, size=n_bags - n_classes)])
    raw = generator.random((n_bags, n_classes)) + 2 * np.eye(n_classes)[targets] * generator.random((n_bags, 1))
    raw = np.round(raw, 1) + 0.01 if ties else raw
    return targets, raw / raw.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("ties", [True, False])
@pytest.mark.parametrize("seed", range(5))
def test_two_classes_agree_with_scikit_learn(seed, ties):
    targets, probabilities = draw(seed, 2, ties=ties)
    ours = bag_metrics(targets, probabilities)
    positive, predicted = probabilities[:, 1], probabilities.argmax(axis=1)
    assert ours["accuracy"] == pytest.approx(reference.accuracy_score(targets, predicted))
    assert ours["precision"] == pytest.approx(reference.precision_score(targets, predicted))
    assert ours["recall"] == pytest.approx(reference.recall_score(targets, predicted))
    assert ours["f_score"] == pytest.approx(reference.f1_score(targets, predicted))
    assert ours["auc"] == pytest.approx(reference.roc_auc_score(targets, positive))
    assert ours["average_precision"] == pytest.approx(reference.average_precision_score(targets, positive))
    assert ours["log_loss"] == pytest.approx(reference.log_loss(targets, probabilities))
    assert ours["brier"] == pytest.approx(reference.brier_score_loss(targets, positive))


@pytest.mark.parametrize("seed", range(5))
def test_several_classes_agree_with_scikit_learns_mean_over_classes(seed):
    targets, probabilities = draw(seed, 4)
    ours = bag_metrics(targets, probabilities)
    predicted = probabilities.argmax(axis=1)
    assert ours["precision"] == pytest.approx(reference.precision_score(targets, predicted, average="macro"))
    assert ours["recall"] == pytest.approx(reference.recall_score(targets, predicted, average="macro"))
    assert ours["f_score"] == pytest.approx(reference.f1_score(targets, predicted, average="macro"))
    assert ours["auc"] == pytest.approx(reference.roc_auc_score(targets, probabilities, multi_class="ovr"))
    assert ours["log_loss"] == pytest.approx(reference.log_loss(targets, probabilities))


def test_what_is_not_defined_is_none_never_a_guess():
    ours = bag_metrics(np.array([0, 0]), np.array([[0.9, 0.1], [0.8, 0.2]]))
    assert ours["auc"] is None
    assert ours["average_precision"] is None
    assert ours["precision"] is None
    assert ours["recall"] is None
    assert ours["f_score"] is None
    assert ours["accuracy"] == 1.0


@given(st.lists(st.tuples(st.booleans(), st.integers(-3, 3)), min_size=2, max_size=30))
def test_auc_is_the_chance_that_a_positive_outranks_a_negative(pairs):
    positive = np.array([flag for flag, _ in pairs])
    scores = np.array([score for _, score in pairs], dtype=float)
    wins = [(high > low) + 0.5 * (high == low) for high in scores[positive] for low in scores[~positive]]
    found = auc(positive, scores)
    assert found is None if not wins else found == pytest.approx(np.mean(wins))
    if wins:
        assert average_precision(positive, scores) == pytest.approx(reference.average_precision_score(positive, scores))


def test_calibration_error_is_the_gap_between_confidence_and_accuracy():
    """Ten bags said to be 0.75 sure, of which half are right: the gap is 0.25."""
    probabilities = np.tile([0.25, 0.75], (10, 1))
    targets = np.array([0, 1] * 5)
    assert bag_metrics(targets, probabilities)["calibration_error"] == pytest.approx(0.25)
    sure = np.eye(2)[targets]
    assert bag_metrics(targets, sure)["calibration_error"] == 0


def test_a_probability_of_zero_for_the_truth_stays_finite():
    assert np.isfinite(bag_metrics(np.array([0, 1]), np.array([[0.0, 1.0], [1.0, 0.0]]))["log_loss"])


def test_folds_of_one_class_define_neither_ranking_nor_finding():
    chances = np.array([[0.3, 0.7], [0.6, 0.4]])
    all_positive, all_negative = (bag_metrics(np.full(2, label), chances) for label in (1, 0))
    assert (all_positive["auc"], all_positive["average_precision"]) == (None, None)
    assert (all_negative["auc"], all_negative["average_precision"], all_negative["f_score"]) == (None, None, None)
    assert all_negative["recall"] is None


def test_decisions_fall_at_the_threshold():
    chances = np.array([[0.7, 0.3], [0.9, 0.1], [0.4, 0.6]])
    found = bag_metrics(np.array([1, 0, 1]), chances, 0.2)
    assert (found["accuracy"], found["recall"]) == (1.0, 1.0)
    assert bag_metrics(np.array([1, 0, 1]), chances)["recall"] == 0.5
