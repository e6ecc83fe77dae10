"""Invalid data is rejected.

Wrong width or dtype, duplicate names, labels without bags, patients in both training and test data, NaN, and empty
bags. `bagwise predict` does not reject an empty bag, but writes a row without a probability.
"""

import csv
import re

import numpy as np
import pytest

from bagwise.bags.bags import Bags
from bagwise.bags.folder import save_bags
from bagwise.data.datasets.registry import load_dataset
from bagwise.errors import InputError
from bagwise.estimators.bag_classifier import BagClassifier
from bagwise.runs.execution import execute_run
from bagwise.runs.run import Run
from command_line import run_quietly, run_rejected
from data.formats.foreign import features, grid, trident_slide, write_table

NEEDLES = load_dataset("needles", n_bags=20).replace(extractor="uni")


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """Return a folder with bags of sixteen features ("bags") and a run that was trained on them ("run")."""
    folder = tmp_path_factory.mktemp("trained")
    save_bags(NEEDLES, folder / "bags")
    data = {"data": str(folder / "bags"), "options": {}, "test": None, "split_seed": 1}
    parameters = {"epochs": 1, "batch_size": 8, "random_state": 0, "engine": "torch"}
    execute_run(folder / "run", {"data": data, "parameters": parameters})
    return folder


def set_groups(bags, groups):
    return bags.replace(groups=np.array(groups))


def test_predict_and_evaluate_reject_another_width_and_print_both(trained, tmp_path):
    save_bags(NEEDLES.map(lambda rows: rows[:, :7]), tmp_path / "narrow")
    expected = (
        f"bag '{NEEDLES.names[0]}' has 7 features, the model needs 16 features (trained on bags of the classes 0, 1, "
    )
    for command in (("predict", trained / "run", "narrow", "--out", "p.csv"), ("evaluate", trained / "run", "narrow")):
        message = run_rejected(*command, cwd=tmp_path)
        assert expected + "features of uni)" in message
    assert not (tmp_path / "p.csv").exists()


def test_predict_rejects_images_and_features_of_another_extractor(trained, tmp_path):
    message = run_rejected(
        "predict", trained / "run", "digits", "--out", "p.csv", "--data-option", "n_bags=3", cwd=tmp_path
    )
    assert re.search(r"has images of \d+×\d+, the model needs 16 features \(trained on", message)
    save_bags(NEEDLES.replace(extractor="virchow"), tmp_path / "other")
    message = run_rejected("predict", trained / "run", "other", "--out", "p.csv", cwd=tmp_path)
    assert "features of 'virchow', but the model was trained on features of 'uni'" in message


@pytest.mark.parametrize("dtype", [complex, object, str, "datetime64[s]", np.longdouble])
def test_bags_reject_instances_that_are_not_numbers(dtype):
    rows = np.zeros((2, 3)).astype(dtype)
    with pytest.raises(InputError, match="convert them to numbers"):
        Bags(rows, np.array([0, 2]))


def test_duplicate_bags_and_slides_are_rejected_by_name(tmp_path):
    with pytest.raises(InputError, match="bag 'twin' occurs more than once"):
        Bags.from_list([np.zeros((1, 2))] * 3, names=["twin", "other", "twin"])
    write_table(tmp_path / "labels.csv", [["slide_id", "label"], ["s", 1], ["s", 0]])
    folder = trident_slide(tmp_path, "s", features(), grid())
    message = run_rejected("import", folder, "--labels", "labels.csv", "--out", "bags", "-q", cwd=tmp_path)
    assert "labels.csv, line 3: slide 's' occurs twice with different entries (label 1 and label 0)" in message


def test_import_and_train_list_labels_without_bags_and_bags_without_labels(tmp_path):
    for slide in ("a", "b", "c"):
        folder = trident_slide(tmp_path, slide, features(), grid())
    write_table(tmp_path / "labels.csv", [["slide_id", "label"], ["a", 1], ["x", 0], ["y", 0]])
    message = run_rejected("import", folder, "--labels", "labels.csv", "--out", "bags", "-q", cwd=tmp_path)
    assert "without a label: b, c; without features: x, y" in message
    write_table(tmp_path / "rows.csv", [["bag", "f"], ["a", 1], ["b", 2]])
    write_table(tmp_path / "bags.csv", [["bag", "label"], ["a", 1], ["x", 0]])
    message = run_rejected("train", "rows.csv", "run", "--data-option", "bags=bags.csv", cwd=tmp_path)
    assert "bags.csv: b; without instances in" in message
    assert "rows.csv: x; correct the names" in message
    assert not (tmp_path / "run").exists()


def test_train_and_compare_reject_a_patient_in_training_and_test_data_without_ungrouped(tmp_path):
    patients = [f"p{number // 2}" for number in range(20)]
    save_bags(set_groups(NEEDLES, patients), tmp_path / "bags")
    save_bags(set_groups(NEEDLES[:8], ["p1", "q", "p3", *"rstuv"]), tmp_path / "more")
    names = NEEDLES.names.tolist()
    rows = [[row, name, "", ""] for row, name in enumerate(names[:9])] + [["9", names[10], "", names[9]]]
    write_table(tmp_path / "overlapping.csv", [["", "train", "val", "test"], *rows])
    quick = ("--epochs", "1", "--engine", "torch", "-q")
    message = run_rejected("train", "bags", "run", "--test", "more", *quick, cwd=tmp_path)
    assert "2 groups (e.g. patients) of the test bags of" in message
    assert "more' also have training bags: p1, p3; remove their bags from one of the two" in message
    assert "allow this with --ungrouped" in message
    assert "groups in both the training and the test part: ['p4']" in run_rejected(
        "train", "bags", "run", "--splits", "overlapping.csv", *quick, cwd=tmp_path
    )
    message = run_rejected(
        "compare", "bags", "--methods", "MI-SVM", "--splits", "overlapping.csv", "--out", "c", cwd=tmp_path
    )
    assert "groups in both the training and the test part: ['p4']" in message
    assert not (tmp_path / "run").exists()
    run_quietly("train", "bags", "run", "--test", "more", "--ungrouped", *quick, cwd=tmp_path)
    assert Run(tmp_path / "run").test_bags().groups.tolist()[:3] == ["p1", "q", "p3"]


def test_evaluate_rejects_patients_of_the_training_data_without_ungrouped(tmp_path):
    save_bags(set_groups(NEEDLES, [f"p{number // 2}" for number in range(20)]), tmp_path / "bags")
    save_bags(set_groups(NEEDLES[:8], list("abcdefgh")), tmp_path / "new-patients")
    run_quietly("train", "bags", "run", "--test", "0.2", "--epochs", "1", "--engine", "torch", cwd=tmp_path)
    message = run_rejected("evaluate", "run", "bags", cwd=tmp_path)
    assert "8 groups (e.g. patients) of the test bags of 'bags' also have training bags: p" in message
    run_quietly("evaluate", "run", "bags", "--ungrouped", cwd=tmp_path)
    run_quietly("evaluate", "run", "new-patients", cwd=tmp_path)
    run_quietly("evaluate", "run", cwd=tmp_path)


def test_check_unseen_warns_about_bags_with_the_names_of_training_bags(trained):
    run = Run(trained / "run")
    with pytest.warns(UserWarning, match="16 bags of 'bags' have the same names as bags that the model was trained on"):
        run.check_unseen(NEEDLES, "bags")
    run.check_unseen(run.test_bags(), "test")


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_values_that_are_not_finite_are_rejected_with_their_location(tmp_path, value):
    rows = features()
    rows[2:4, 1] = value
    with pytest.raises(InputError, match="bag 'b' has 2 values that are NaN or infinite, first in its row 2"):
        Bags.from_list([features(), rows], names=["a", "b"])
    folder = trident_slide(tmp_path, "s", rows, grid())
    write_table(tmp_path / "labels.csv", [["slide_id", "label"], ["s", 1]])
    message = run_rejected("import", folder, "--labels", "labels.csv", "--out", "bags", "-q", cwd=tmp_path)
    assert "slide 's' has 2 NaN or infinite features, first in row 2" in message
    write_table(tmp_path / "rows.csv", [["bag", "label", "f"], ["a", 1, 0.5], ["b", 0, value]])
    assert "rows.csv, line 3, column 'f' is" in run_rejected("train", "rows.csv", "run", cwd=tmp_path)


def test_fit_and_predict_proba_reject_an_empty_bag_by_its_number():
    model = BagClassifier(epochs=1, engine="torch", validation=None)
    bags = [np.ones((2, 3)), np.ones((0, 3)), np.ones((1, 3))]
    with pytest.raises(InputError, match="bag 1 has no instances"):
        model.fit(bags, [0, 1, 1])
    model.fit(bags[::2], [0, 1])
    with pytest.raises(InputError, match="bag 1 has no instances"):
        model.predict_proba(bags)


def test_predict_writes_a_row_without_probability_for_an_empty_slide(trained, tmp_path):
    """An empty slide occurs if another tool found no tissue on it."""
    generator = np.random.default_rng(0)
    for slide in ("a", "blank", "c"):
        rows = generator.normal(size=(0 if slide == "blank" else 5, 16)).astype(np.float32)
        folder = trident_slide(tmp_path, slide, rows, grid(len(rows)), encoder="uni")
    write_table(tmp_path / "labels.csv", [["slide_id", "label"], ["a", 1], ["blank", 0], ["c", 0]])
    run_quietly("import", folder, "--labels", "labels.csv", "--out", "bags", "-q", cwd=tmp_path)
    run_quietly("predict", trained / "run", "bags", "--out", "p.csv", "-q", cwd=tmp_path)
    with (tmp_path / "p.csv").open(newline="") as stream:
        rows = {row["bag"]: row for row in csv.DictReader(stream)}
    assert list(rows) == ["a", "c", "blank"]
    assert rows["blank"]["status"] == "empty"
    assert rows["blank"]["n_instances"] == "0"
    assert all(rows["blank"][title] == "" for title in rows["blank"] if title not in ("bag", "status", "n_instances"))
    assert all(0 <= float(rows[slide]["probability 1"]) <= 1 for slide in ("a", "c"))
