import numpy as np
import pytest

from bagwise.bags.bags import Bags
from bagwise.data.datasets.registry import load_dataset
from bagwise.errors import InputError
from bagwise.estimators.bag_classifier import BagClassifier
from bagwise.evaluation.evaluation import evaluate, group_predictions
from bagwise.targets.classes import ClassTarget


def compute_bag_metrics(targets, probabilities, threshold=0.5):
    return ClassTarget.unnamed(probabilities.shape[1]).compute_metrics(targets, probabilities, threshold)


NEEDLES = load_dataset("needles", n_bags=30)
OTHER_NEEDLES = load_dataset("needles", n_bags=30, seed=7)


def test_evaluate_returns_the_predictions_of_the_model_and_their_metrics():
    model = BagClassifier(epochs=2, random_state=0).fit(NEEDLES, NEEDLES.labels)
    evaluation = evaluate(model, OTHER_NEEDLES, OTHER_NEEDLES.labels)
    np.testing.assert_array_equal(evaluation.outputs, model.predict_proba(OTHER_NEEDLES))
    np.testing.assert_array_equal(evaluation.weights, model.weigh(OTHER_NEEDLES))
    values = {name: entry["value"] for name, entry in evaluation.metrics["bags"].items()}
    assert values == compute_bag_metrics(OTHER_NEEDLES.labels, evaluation.outputs)
    for entry in evaluation.metrics["bags"].values():
        assert entry["interval"][0] <= entry["value"] + 1e-9
        assert entry["value"] - 1e-9 <= entry["interval"][1]
    assert evaluation.metrics["instances"]["weights"]["n_bags"] > 0


def test_evaluate_with_three_classes_has_no_key_instance_metrics_of_scores():
    labels = np.arange(30) % 3
    model = BagClassifier(epochs=1, random_state=0).fit(NEEDLES, labels)
    assert set(evaluate(model, OTHER_NEEDLES, labels).metrics["instances"]) == {"weights"}


def test_evaluate_rejects_unknown_labels():
    model = BagClassifier(epochs=1, random_state=0).fit(NEEDLES, NEEDLES.labels)
    with pytest.raises(InputError, match=r"\b2\b"):
        evaluate(model, NEEDLES, NEEDLES.labels + 1)


def test_evaluate_resamples_whole_groups():
    model = BagClassifier(epochs=2, random_state=0).fit(NEEDLES, NEEDLES.labels)
    grouped = OTHER_NEEDLES.replace(groups=np.arange(30) // 10)
    tests = (OTHER_NEEDLES, grouped)
    by_bag, by_group = (evaluate(model, bags, OTHER_NEEDLES.labels).metrics["bags"] for bags in tests)
    assert by_group["log_loss"]["value"] == by_bag["log_loss"]["value"]
    assert by_group["log_loss"]["interval"] != by_bag["log_loss"]["interval"]


def test_group_predictions_average_the_bags_of_a_group():
    generator = np.random.default_rng(0)
    groups = generator.choice(list("abcd"), 30)
    targets = np.isin(groups, ["b", "c"]).astype(int)
    probabilities = generator.dirichlet([1, 1], 30)
    for name, n_bags, target, mean in zip(*group_predictions(targets, probabilities, groups), strict=True):
        assert n_bags == (groups == name).sum()
        assert target == (name in "bc")
        np.testing.assert_allclose(mean, probabilities[groups == name].mean(axis=0))


def test_group_predictions_have_no_targets_if_a_group_has_several_classes():
    probabilities = np.full((3, 2), 1 / 2)
    assert group_predictions(np.array([0, 1, 1]), probabilities, np.array(["a", "a", "b"])).targets is None
    assert group_predictions(np.array([1, 1, 0]), probabilities, np.array(["a", "a", "b"])).targets.tolist() == [1, 0]


def test_group_predictions_do_not_need_targets():
    found = group_predictions(None, np.array([[0.9, 0.1], [0.3, 0.7], [0.8, 0.2]]), np.array(["a", "a", "b"]))
    assert found.targets is None
    np.testing.assert_allclose(found.outputs, [[0.6, 0.4], [0.8, 0.2]])


def test_evaluate_marks_bags_that_the_model_was_fitted_on_whatever_they_are_named(tmp_path):
    training, test = NEEDLES[:20], NEEDLES[20:]
    model = BagClassifier(epochs=1, random_state=0).fit(training, training.labels)
    assert "seen_bags" not in evaluate(model, test, test.labels).metrics
    renamed = Bags.concatenate([test, training[:3].replace(names=["x", "y", "z"])])
    model.save(tmp_path / "model")
    for fitted in (model, BagClassifier.load(tmp_path / "model")):
        with pytest.warns(UserWarning, match="fitted on 3 of these 13 bags"):
            assert evaluate(fitted, renamed, renamed.labels).metrics["seen_bags"] == 3


def test_evaluate_marks_bags_that_were_used_for_validation():
    training, test = NEEDLES[:20], NEEDLES[20:]
    model = BagClassifier(epochs=1, random_state=0)
    model.fit(training, training.labels, validation=(test, test.labels))
    with pytest.warns(UserWarning, match="used them for validation"):
        assert evaluate(model, test, test.labels).metrics["seen_bags"] == len(test)


def test_evaluate_rejects_a_prediction_that_is_not_finite_and_names_the_bag():
    model = BagClassifier(epochs=1, scaling="standard", random_state=0).fit(NEEDLES[:20], NEEDLES[:20].labels)
    test = NEEDLES[20:].replace(names=[f"bag {n}" for n in range(10)])
    instances = test.instances.astype(np.float64)
    instances[test.offsets[4]] = 1e300
    with pytest.raises(InputError, match="no finite prediction for bag 'bag 4': probability 0 is nan"):
        evaluate(model, test.replace(instances=instances), test.labels)
