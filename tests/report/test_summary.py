import json
import shutil

import numpy as np
import pytest
from sklearn.metrics import confusion_matrix, precision_recall_curve, roc_curve

from bagwise.report.summary import compare_with_baselines, find_best_epoch, summarise_run
from bagwise.runs.run import Run
from bagwise.targets.classes import ClassTarget
from resealing import reseal

TARGET = ClassTarget.unnamed(2)


def test_summarise_run_returns_plain_json(summary, three_classes_run):
    for found in (summary, summarise_run(three_classes_run)):
        assert json.loads(json.dumps(found, allow_nan=False)) == found


def test_summarise_run_is_deterministic(digits_run, summary):
    assert summarise_run(Run(digits_run.folder)) == summary


def test_summarise_run_has_the_numbers_of_the_files(digits_run, summary, read_files):
    rows, weights, metrics = read_files(digits_run)
    metadata = summary["metadata"]
    assert summary["metrics"] == metrics["bags"]
    assert summary["key_instances"] == metrics["instances"]
    assert metadata["n_bags"] == len(rows) == metrics["n_bags"]
    assert metadata["n_instances"] == len(weights)
    assert metadata["label_counts"] == {name: sum(row["label"] == name for row in rows) for name in ("0", "1")}
    assert summary["intervals"] == {"level": 0.95, "resamples": 1000, "by": "bag"}
    assert summary["history"]["loss"] == [row["loss"] for row in digits_run.history]
    assert summary["parameters"] == json.loads((digits_run.folder / "parameters.json").read_text())


def test_summarise_run_has_the_curves_of_scikit_learn(digits_run, summary, read_files):
    rows, _, metrics = read_files(digits_run)
    positive = [row["label"] == "1" for row in rows]
    scores = [float(row["probability 1"]) for row in rows]
    (roc,), (precision_recall,) = summary["roc"], summary["precision_recall"]
    false_positive_rate, true_positive_rate, _ = roc_curve(positive, scores)
    np.testing.assert_allclose(roc["points"]["false_positive_rate"], false_positive_rate)
    np.testing.assert_allclose(roc["points"]["true_positive_rate"], true_positive_rate)
    precision, recall, _ = precision_recall_curve(positive, scores)
    np.testing.assert_allclose(precision_recall["points"]["precision"], precision)
    np.testing.assert_allclose(precision_recall["points"]["recall"], recall)
    assert roc["auc"] == pytest.approx(metrics["bags"]["auc"]["value"])
    assert precision_recall["average_precision"] == pytest.approx(metrics["bags"]["average_precision"]["value"])


def test_summarise_run_counts_every_bag(digits_run, summary, read_files):
    rows, _, metrics = read_files(digits_run)
    labels, predicted = ([row[column] for row in rows] for column in ("label", "predicted"))
    assert summary["confusion"] == confusion_matrix(labels, predicted).tolist()
    histogram = summary["probabilities"]["counts"]
    assert [sum(counts) for counts in histogram.values()] == list(summary["metadata"]["label_counts"].values())
    bins = {name: np.array(values) for name, values in summary["calibration"].items()}
    error = (np.abs(bins["confidence"] - bins["accuracy"]) * bins["n_bags"]).sum() / len(rows)
    assert error == pytest.approx(metrics["bags"]["calibration_error"]["value"])


def test_summarise_run_of_several_classes_has_one_curve_per_class(three_classes_run):
    summary = summarise_run(three_classes_run)
    assert [curve["class"] for curve in summary["roc"]] == ["ant", "bee", "cow"]
    areas = [curve["auc"] for curve in summary["roc"]]
    assert np.mean(areas) == pytest.approx(summary["metrics"]["auc"]["value"])


def test_summarise_run_states_that_groups_are_resampled(three_classes_run):
    assert summarise_run(three_classes_run)["intervals"]["by"] == "group"


def test_summarise_run_without_the_data_lacks_only_pictures_and_truth(three_classes_run, tmp_path):
    folder = shutil.copytree(three_classes_run.folder, tmp_path / "run")
    parameters = json.loads((folder / "parameters.json").read_text())
    missing = parameters["data"]["data"][:-1] + "X"
    parameters["data"]["data"] = missing
    (folder / "parameters.json").write_text(json.dumps(parameters, indent=2, ensure_ascii=False) + "\n")
    reseal(folder)
    with_data, without = summarise_run(three_classes_run), summarise_run(Run(folder))
    assert missing in without["data"]["missing"]
    assert not without["data"]["pictures"]
    for key in ("metrics", "roc", "calibration", "confusion", "notable_bags"):
        assert without[key] == with_data[key]


def test_compare_with_baselines_names_those_that_the_model_does_not_beat():
    def make_metrics(auc, log_loss):
        return {"auc": {"value": auc}, "log_loss": {"value": log_loss}}

    baselines = {"majority": {"auc": 0.5, "log_loss": 0.69}, "extra trees": {"auc": 0.8, "log_loss": 0.4}}
    assert compare_with_baselines(TARGET, make_metrics(0.9, 0.5), baselines) == []
    (note,) = compare_with_baselines(TARGET, make_metrics(0.9, 0.7), baselines)
    assert "“majority”" in note
    assert "Log loss 0.700, baseline 0.690" in note
    (note,) = compare_with_baselines(TARGET, make_metrics(0.8, 0.3), baselines)
    assert "“extra trees” on these test bags: AUC 0.800, baseline 0.800" in note
    assert compare_with_baselines(TARGET, make_metrics(None, 0.3), baselines) == []


def test_find_best_epoch_finds_the_first_lowest_validation_error_and_loss():
    def make_row(epoch, loss, error):
        return {"epoch": epoch, "validation_loss": loss, "validation_error": error}

    history = [make_row(1.0, 0.5, 0.5), make_row(2.0, 0.4, 0.1), make_row(3.0, 0.1, 0.4), make_row(4.0, 0.6, 0.5)]
    assert find_best_epoch(history) == 2
    assert find_best_epoch([make_row(1.0, None, None), make_row(2.0, None, None)]) == 2
    assert find_best_epoch([]) is None
