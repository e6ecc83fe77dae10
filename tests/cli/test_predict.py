import csv
import json

import numpy as np
import pytest
from PIL import Image

from bagwise.bags.folder import save_bags
from bagwise.data.datasets.registry import load_dataset
from bagwise.estimators.bag_classifier import BagClassifier
from command_line import QUICK, bagwise, read_error, run_rejected


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("judge")
    assert bagwise("train", "needles", "run", *QUICK, "-q", cwd=folder).returncode == 0
    save_bags(load_dataset("needles", n_bags=12, seed=5).replace(labels=None), folder / "new")
    return folder


def test_evaluate_repeats_the_metrics_of_the_run(folder):
    result = bagwise("evaluate", "run", "--json", cwd=folder)
    assert json.loads(result.stdout) == json.loads((folder / "run" / "metrics.json").read_text())
    assert "Accuracy" in bagwise("evaluate", "run", "needles", cwd=folder).stdout


def test_predict_writes_the_probabilities_of_the_model_exactly(folder):
    result = bagwise("predict", "run", "new", "--out", "p.csv", "--weights", "w.csv", cwd=folder)
    assert "wrote predictions for 12 bags" in result.stdout
    model, bags = BagClassifier.load(folder / "run" / "model"), load_dataset("needles", n_bags=12, seed=5)
    with (folder / "p.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    assert "label" not in rows[0]
    np.testing.assert_array_equal([float(row["probability 1"]) for row in rows], model.predict_proba(bags)[:, 1])
    with (folder / "w.csv").open() as stream:
        weights = [float(row["weight"]) for row in csv.DictReader(stream)]
    np.testing.assert_array_equal(weights, model.weigh(bags).astype(float))


def test_predict_rejects_wrong_arguments_with_the_fix(folder):
    assert "the model needs 16 features" in run_rejected("predict", "run", "digits", "--out", "x.csv", cwd=folder)
    assert not (folder / "x.csv").exists()
    assert "have no labels" in run_rejected("evaluate", "run", "new", cwd=folder)
    assert "is not a folder" in run_rejected("evaluate", "nowhere", cwd=folder)
    assert "Missing option" in read_error(bagwise("predict", "run", "new", cwd=folder))


def test_predict_marks_bags_without_a_finite_prediction_and_exits_with_1(folder):
    bags = load_dataset("needles", n_bags=3, seed=5)
    instances = bags.instances.astype(np.float64)
    instances[bags.offsets[1]] = 1e300  # infinite in the float32 of the network
    save_bags(bags.replace(instances=instances), folder / "extreme")
    bagwise("train", "needles", "unclipped", *QUICK, "--scaling", "standard", cwd=folder)
    result = bagwise("predict", "unclipped", "extreme", "--out", "x2.csv", "--weights", "w2.csv", cwd=folder)
    assert result.returncode == 1
    name = bags.name(1)
    assert f"1 of 3 bags have no finite prediction, such as {name} (probability 0 is nan" in result.stderr
    with (folder / "x2.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    assert [row["status"] for row in rows] == ["predicted", "failed", "predicted"]
    assert rows[1]["predicted"] == rows[1]["probability 1"] == ""
    with (folder / "w2.csv").open() as stream:
        assert name not in {row["bag"] for row in csv.DictReader(stream)}
    assert f"no finite prediction for bag '{name}'" in run_rejected("evaluate", "unclipped", "extreme", cwd=folder)
    clipped = bagwise("predict", "run", "extreme", "--out", "x3.csv", cwd=folder)
    assert clipped.returncode == 0, clipped.stderr


def write_table(path, columns, rows):
    with path.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, columns, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)


def test_predictions_from_a_table_do_not_depend_on_the_order_of_its_columns(tmp_path):
    generator = np.random.default_rng(0)
    rows = [
        {"bag": f"b{n // 2}", "label": n // 2 % 2, "mass": generator.normal(), "charge": 9 * generator.normal()}
        for n in range(60)
    ]
    columns = ["bag", "label", "mass", "charge"]
    write_table(tmp_path / "table.csv", columns, rows)
    write_table(tmp_path / "reversed.csv", columns[::-1], rows)
    write_table(tmp_path / "renamed.csv", ["bag", "weight", "charge"], [{**row, "weight": row["mass"]} for row in rows])
    assert bagwise("train", "table.csv", "run", "--epochs", "2", "-q", cwd=tmp_path).returncode == 0
    for name in ("table", "reversed"):
        assert bagwise("predict", "run", f"{name}.csv", "--out", f"{name}-p.csv", cwd=tmp_path).returncode == 0
    assert (tmp_path / "table-p.csv").read_bytes() == (tmp_path / "reversed-p.csv").read_bytes()
    message = run_rejected("predict", "run", "renamed.csv", "--out", "renamed-p.csv", cwd=tmp_path)
    assert "missing: 'mass'; unknown: 'weight'" in message
    assert not (tmp_path / "renamed-p.csv").exists()


def test_predict_rejects_one_file_for_two_outputs(digits_run, tmp_path):
    same = tmp_path / "table.csv"
    message = run_rejected("predict", digits_run.folder, "digits", "--out", same, "--weights", same, cwd=tmp_path)
    assert "name the same file" in message
    assert not same.exists()


def test_predict_lists_images_without_tiles_as_empty(tmp_path):
    draws = np.random.default_rng(0)
    for label in ("no", "yes"):
        (tmp_path / "images" / label).mkdir(parents=True)
        for number in range(8):
            pixels = draws.integers(0, 120, (16, 16, 3), dtype=np.uint8) + (100 if label == "yes" else 0)
            Image.fromarray(pixels.astype(np.uint8)).save(tmp_path / "images" / label / f"{label}{number}.png")
    Image.fromarray(np.full((16, 16, 3), 255, np.uint8)).save(tmp_path / "images" / "no" / "blank.png")
    size = ("--data-option", "size=8")
    trained = bagwise("train", "images", "run", "--epochs", "1", *size, cwd=tmp_path)
    assert "blank" in trained.stdout, trained.stderr
    bagwise("predict", "run", "images", "--out", "predictions.csv", *size, cwd=tmp_path)
    with (tmp_path / "predictions.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    assert [row["bag"] for row in rows if row["status"] == "empty"] == ["no/blank.png"] or "blank" in rows[-1]["bag"]
    assert len(rows) == 17
