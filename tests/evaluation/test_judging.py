import numpy as np
import pytest

from bagwise.datasets import load_dataset
from bagwise.errors import InputError
from bagwise.estimators import BagClassifier
from bagwise.evaluation import bag_metrics, evaluate

NEEDLES = load_dataset("needles", n_bags=30)


def test_what_is_judged_is_what_is_predicted():
    model = BagClassifier(epochs=2, random_state=0).fit(NEEDLES, NEEDLES.labels)
    judged = evaluate(model, NEEDLES, NEEDLES.labels)
    np.testing.assert_array_equal(judged.probabilities, model.predict_proba(NEEDLES))
    np.testing.assert_array_equal(judged.weights, model.weigh(NEEDLES))
    values = {name: entry["value"] for name, entry in judged.metrics["bags"].items()}
    assert values == bag_metrics(NEEDLES.labels, judged.probabilities)
    for entry in judged.metrics["bags"].values():
        assert entry["interval"][0] <= entry["value"] + 1e-9
        assert entry["value"] - 1e-9 <= entry["interval"][1]
    assert judged.metrics["instances"]["weights"]["n_bags"] > 0


def test_three_classes_have_bag_metrics_and_weights_but_no_single_instance_score():
    labels = np.arange(30) % 3
    model = BagClassifier(epochs=1, random_state=0).fit(NEEDLES, labels)
    judged = evaluate(model, NEEDLES, labels)
    assert set(judged.metrics["instances"]) == {"weights"}


def test_unknown_labels_are_refused():
    model = BagClassifier(epochs=1, random_state=0).fit(NEEDLES, NEEDLES.labels)
    with pytest.raises(InputError, match="labels 2 are unknown to the model, which was trained on: 0, 1"):
        evaluate(model, NEEDLES, NEEDLES.labels + 1)


def test_intervals_draw_whole_groups_where_there_are_groups():
    model = BagClassifier(epochs=2, random_state=0).fit(NEEDLES, NEEDLES.labels)
    grouped = NEEDLES.replace(groups=np.arange(30) // 10)
    alone, together = (evaluate(model, bags, NEEDLES.labels).metrics["bags"] for bags in (NEEDLES, grouped))
    assert together["log_loss"]["value"] == alone["log_loss"]["value"]
    assert together["log_loss"]["interval"] != alone["log_loss"]["interval"]
