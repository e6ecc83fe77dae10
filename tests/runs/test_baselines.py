"""Baselines on the split of a run."""

import numpy as np

from bagwise.data.datasets.registry import load_dataset
from bagwise.estimators.registry import build_method
from bagwise.evaluation.evaluation import evaluate
from bagwise.runs.baselines import evaluate_baselines
from bagwise.runs.parts import RunParts
from bagwise.targets.classes import ClassTarget

BAGS = load_dataset("needles", n_bags=40)
PARTS = RunParts(training=BAGS[:30], test=BAGS[30:])
TARGET = ClassTarget.unnamed(2)


def test_evaluate_baselines_fits_the_training_bags_and_evaluates_the_test_bags():
    metrics = evaluate_baselines(PARTS, None, TARGET)
    assert list(metrics) == ["majority", "extra trees"]
    trees = build_method("extra trees", random_state=0).fit(PARTS.training, PARTS.training.labels)
    expected = evaluate(trees, PARTS.test, PARTS.test.labels).metrics["bags"]
    assert metrics["extra trees"] == {name: entry["value"] for name, entry in expected.items()}
    shares = np.bincount(PARTS.training.labels) / 30
    expected = -np.log(shares[PARTS.test.labels]).mean()
    np.testing.assert_allclose(metrics["majority"]["log_loss"], expected)


def test_evaluate_baselines_leaves_out_the_method_of_the_run():
    assert list(evaluate_baselines(PARTS, "extra trees", TARGET)) == ["majority"]
