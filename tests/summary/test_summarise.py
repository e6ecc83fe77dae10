"""A summary says what the files of the run say, and goes on without the data."""

import json
import shutil

import numpy as np
import pytest
from sklearn.metrics import confusion_matrix, precision_recall_curve, roc_curve

from bagwise.runs import Run
from bagwise.summary import summarise
from bagwise.summary.summarise import best_epoch
from resealing import reseal


def test_it_is_plain_json(summary, three_classes):
    for found in (summary, summarise(three_classes)):
        assert json.loads(json.dumps(found, allow_nan=False)) == found


def test_numbers_are_those_of_the_files(digits_run, summary, written):
    rows, weights, metrics = written(digits_run)
    assert summary["metrics"] == metrics["bags"]
    assert summary["key_instances"] == metrics["instances"]
    assert summary["facts"]["n_bags"] == len(rows) == metrics["n_bags"]
    assert summary["facts"]["n_instances"] == len(weights)
    assert summary["facts"]["n_bags_by_class"] == [sum(row["label"] == name for row in rows) for name in ("0", "1")]
    assert summary["intervals"] == {"level": 0.95, "draws": 1000, "by": "bag"}
    assert summary["history"]["loss"] == [row["loss"] for row in digits_run.history]
    assert summary["parameters"] == json.loads((digits_run.folder / "parameters.json").read_text())


def test_curves_are_those_of_scikit_learn(digits_run, summary, written):
    rows, _, metrics = written(digits_run)
    positive = [row["label"] == "1" for row in rows]
    scores = [float(row["probability 1"]) for row in rows]
    (roc,), (precision_recall,) = summary["roc"], summary["precision_recall"]
    across, up, _ = roc_curve(positive, scores)
    np.testing.assert_allclose(roc["points"]["false_positive_rate"], across)
    np.testing.assert_allclose(roc["points"]["true_positive_rate"], up)
    precision, recall, _ = precision_recall_curve(positive, scores)
    np.testing.assert_allclose(precision_recall["points"]["precision"], precision)
    np.testing.assert_allclose(precision_recall["points"]["recall"], recall)
    assert roc["auc"] == pytest.approx(metrics["bags"]["auc"]["value"])
    assert precision_recall["average_precision"] == pytest.approx(metrics["bags"]["average_precision"]["value"])


def test_counts_add_up_to_the_bags(digits_run, summary, written):
    rows, _, metrics = written(digits_run)
    truth, predicted = ([row[column] for row in rows] for column in ("label", "predicted"))
    assert summary["confusion"] == confusion_matrix(truth, predicted).tolist()
    assert [sum(counts) for counts in summary["probabilities"]["counts"].values()] == summary["facts"][
        "n_bags_by_class"
    ]
    bins = {name: np.array(values) for name, values in summary["calibration"].items()}
    gap = (np.abs(bins["confidence"] - bins["share_right"]) * bins["n_bags"]).sum() / len(rows)
    assert gap == pytest.approx(metrics["bags"]["calibration_error"]["value"])


def test_several_classes_have_a_curve_each_and_groups_are_drawn_whole(three_classes):
    summary = summarise(three_classes)
    assert [curve["class"] for curve in summary["roc"]] == ["ant", "bee", "cow"]
    areas = [curve["auc"] for curve in summary["roc"]]
    assert np.mean(areas) == pytest.approx(summary["metrics"]["auc"]["value"])
    assert summary["intervals"]["by"] == "group"


def test_without_the_data_all_but_pictures_and_truth_remains(three_classes, tmp_path):
    folder = shutil.copytree(three_classes.folder, tmp_path / "run")
    parameters = json.loads((folder / "parameters.json").read_text())
    place = parameters["data"]["data"]
    parameters["data"]["data"] = place[:-1] + "X"
    (folder / "parameters.json").write_text(json.dumps(parameters, indent=2, ensure_ascii=False) + "\n")
    reseal(folder)
    with_data, without = summarise(three_classes), summarise(Run(folder))
    assert "neither a data set nor a folder" in without["data"]["missing"]
    assert not without["data"]["pictures"]
    for part in ("metrics", "roc", "calibration", "confusion", "telling_bags"):
        assert without[part] == with_data[part]


def test_the_best_epoch_is_the_first_of_least_validation_error_and_loss():
    def row(epoch, loss, error):
        return {"epoch": epoch, "validation_loss": loss, "validation_error": error}

    assert best_epoch([row(1.0, 0.5, 0.5), row(2.0, 0.4, 0.1), row(3.0, 0.1, 0.4), row(4.0, 0.6, 0.5)]) == 2
    assert best_epoch([row(1.0, None, None), row(2.0, None, None)]) == 2
    assert best_epoch([]) is None


def test_the_same_run_gives_the_same_summary(digits_run, summary):
    assert summarise(Run(digits_run.folder)) == summary
