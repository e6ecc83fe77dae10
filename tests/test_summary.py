"""A summary says what the files of the run say, and its telling bags are the extremes."""

import csv
import json
import shutil

import numpy as np
import pytest
from sklearn.metrics import confusion_matrix, precision_recall_curve, roc_curve

from bagwise.bags import Bags
from bagwise.runs import Run, execute
from bagwise.storage import save_bags
from bagwise.summary import MOST_INSTANCES, best_epoch, summarise

QUICK = {"epochs": 2, "random_state": 1, "batch_size": 8, "learning_rate": 1e-3}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    digits = {"data": "digits", "options": {"n_bags": 40}, "test": None, "split_seed": 1}
    return execute(tmp_path_factory.mktemp("digits") / "run", {"data": digits, "parameters": QUICK})


@pytest.fixture(scope="module")
def summary(run):
    return summarise(run)


@pytest.fixture(scope="module")
def three_classes(tmp_path_factory):
    """A run on a folder of bags of three classes and of groups, some of them larger than is shown."""
    folder = tmp_path_factory.mktemp("three")
    generator = np.random.default_rng(0)
    labels = np.tile(["ant", "bee", "cow"], 12)
    sizes = generator.integers(3, 30, size=36)
    centres = np.tile([0.0, 1.0, 2.0], 12)
    bags = [generator.normal(centre, 1, (size, 3)) for centre, size in zip(centres, sizes, strict=True)]
    save_bags(Bags.from_list(bags, labels, groups=np.arange(36) // 2), folder / "bags")
    data = {"data": str(folder / "bags"), "options": {}, "test": 0.5, "split_seed": 1}
    return execute(folder / "run", {"data": data, "parameters": {**QUICK, "validation": 0.3}})


def written(run):
    """The files of a run, read without bagwise."""
    with (run.folder / "predictions.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    return rows, np.load(run.folder / "weights.npy"), json.loads((run.folder / "metrics.json").read_text())


def shown(summary, kind):
    return next(group["bags"] for group in summary["telling_bags"] if group["kind"] == kind)


def test_it_is_plain_json(summary, three_classes):
    for found in (summary, summarise(three_classes)):
        assert json.loads(json.dumps(found, allow_nan=False)) == found


def test_numbers_are_those_of_the_files(run, summary):
    rows, weights, metrics = written(run)
    assert summary["metrics"] == metrics["bags"]
    assert summary["key_instances"] == metrics["instances"]
    assert summary["facts"]["n_bags"] == len(rows) == metrics["n_bags"]
    assert summary["facts"]["n_instances"] == len(weights)
    assert summary["facts"]["n_bags_by_class"] == [sum(row["label"] == name for row in rows) for name in ("0", "1")]
    assert summary["intervals"] == {"level": 0.95, "draws": 1000, "by": "bag"}
    assert summary["history"]["loss"] == [row["loss"] for row in run.history]
    assert summary["parameters"] == json.loads((run.folder / "parameters.json").read_text())


def test_curves_are_those_of_scikit_learn(run, summary):
    rows, _, metrics = written(run)
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


def test_counts_add_up_to_the_bags(run, summary):
    rows, _, metrics = written(run)
    truth, predicted = ([row[column] for row in rows] for column in ("label", "predicted"))
    assert summary["confusion"] == confusion_matrix(truth, predicted).tolist()
    assert [sum(counts) for counts in summary["probabilities"]["counts"].values()] == summary["facts"][
        "n_bags_by_class"
    ]
    bins = {name: np.array(values) for name, values in summary["calibration"].items()}
    gap = (np.abs(bins["confidence"] - bins["share_right"]) * bins["n_bags"]).sum() / len(rows)
    assert gap == pytest.approx(metrics["bags"]["calibration_error"]["value"])


@pytest.mark.parametrize(
    ("kind", "label", "predicted", "sign", "most"),
    [
        ("hits", "1", "1", -1, 3),
        ("misses", "1", "0", 1, 3),
        ("false alarms", "0", "1", -1, 3),
        ("rejections", "0", "0", 1, 2),
    ],
)
def test_telling_bags_are_the_extremes(run, summary, kind, label, predicted, sign, most):
    rows, _, _ = written(run)
    kin = [row for row in rows if (row["label"], row["predicted"]) == (label, predicted)]
    kin.sort(key=lambda row: sign * float(row["probability 1"]))
    assert [bag["name"] for bag in shown(summary, kind)] == [row["bag"] for row in kin[:most]]
    assert [bag["probability"] for bag in shown(summary, kind)] == [float(row["probability 1"]) for row in kin[:most]]


def test_instances_are_those_of_most_weight_with_their_truth_and_picture(run, summary):
    rows, weights, _ = written(run)
    bags, names = run.test_bags(), [row["bag"] for row in rows]
    for group in summary["telling_bags"]:
        for bag in group["bags"]:
            start, end = bags.offsets[names.index(bag["name"]) :][:2]
            own = weights[start:end]
            values = [instance["weight"] for instance in bag["instances"]]
            assert values == sorted(own.tolist(), reverse=True)[:MOST_INSTANCES]
            for instance in bag["instances"]:
                assert instance["weight"] == own[instance["number"]]
                assert instance["key"] == (bags.instance_labels[start + instance["number"]] > 0)
                assert instance["picture"].startswith("data:image/png;base64,")
            assert bag["n_instances"] == end - start == len(values) + bag["left_out"]["n_instances"]
            assert sum(values) + bag["left_out"]["weight"] == pytest.approx(1, abs=1e-5)


def test_several_classes_are_told_as_right_and_wrong(three_classes):
    summary, (rows, _, _) = summarise(three_classes), written(three_classes)
    assert [group["kind"] for group in summary["telling_bags"]] == ["right", "wrong"]
    for kind, right in (("right", True), ("wrong", False)):
        kin = [row for row in rows if (row["label"] == row["predicted"]) == right]
        surest = sorted((float(row[f"probability {row['predicted']}"]) for row in kin), reverse=True)
        assert [bag["probability"] for bag in shown(summary, kind)] == surest[:4]
    assert [curve["class"] for curve in summary["roc"]] == ["ant", "bee", "cow"]
    areas = [curve["auc"] for curve in summary["roc"]]
    assert np.mean(areas) == pytest.approx(summary["metrics"]["auc"]["value"])
    assert summary["intervals"]["by"] == "group"


def test_large_bags_say_what_they_leave_out(three_classes):
    bags = [bag for group in summarise(three_classes)["telling_bags"] for bag in group["bags"]]
    assert all(len(bag["instances"]) == min(bag["n_instances"], MOST_INSTANCES) for bag in bags)
    assert any(bag["left_out"]["n_instances"] > 0 for bag in bags)
    assert all(bag["left_out"]["n_key"] is None for bag in bags)  # there are no instance labels
    assert all(instance["picture"] is None for bag in bags for instance in bag["instances"])


def test_without_the_data_all_but_pictures_and_truth_remains(three_classes, tmp_path):
    folder = shutil.copytree(three_classes.folder, tmp_path / "run")
    parameters = json.loads((folder / "parameters.json").read_text())
    place = parameters["data"]["data"]
    parameters["data"]["data"] = place[:-1] + "X"  # as long as before: the manifest keeps sizes
    (folder / "parameters.json").write_text(json.dumps(parameters, indent=2, ensure_ascii=False) + "\n")
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


def test_the_same_run_gives_the_same_summary(run, summary):
    assert summarise(Run(run.folder)) == summary
