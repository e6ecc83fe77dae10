"""Wrong width or dtype, duplicate names, labels without bags, a patient on both sides, NaN, empty bags: refused.

An empty bag is a line of its own in a prediction, without a probability.
"""

import csv
import re

import numpy as np
import pytest

from bagwise.bags.bags import Bags
from bagwise.bags.folder import save_bags
from bagwise.data.datasets.registry import load_dataset
from bagwise.errors import InputError
from bagwise.estimators.network import BagClassifier
from bagwise.runs.execution import execute_run
from bagwise.runs.run import Run
from command_line import refusal, run_quietly
from data.formats.foreign import features, grid, trident_slide, write_table

NEEDLES = load_dataset("needles", n_bags=20).replace(extractor="uni")


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A run on bags of sixteen features."""
    folder = tmp_path_factory.mktemp("fit")
    save_bags(NEEDLES, folder / "bags")
    data = {"data": str(folder / "bags"), "options": {}, "test": None, "split_seed": 1}
    parameters = {"epochs": 1, "batch_size": 8, "random_state": 0, "engine": "torch"}
    execute_run(folder / "run", {"data": data, "parameters": parameters})
    return folder


def grouped(bags, groups):
    return bags.replace(groups=np.array(groups))


def test_features_of_another_width_are_refused_with_both_numbers(place, tmp_path):
    save_bags(NEEDLES.map(lambda rows: rows[:, :7]), tmp_path / "narrow")
    wanted = (
        f"bag '{NEEDLES.names[0]}' has 7 features, the model needs 16 features (trained on bags of the classes 0, 1, "
    )
    for command in (("predict", place / "run", "narrow", "--out", "p.csv"), ("evaluate", place / "run", "narrow")):
        said = refusal(*command, cwd=tmp_path)
        assert wanted + "features of uni)" in said
    assert not (tmp_path / "p.csv").exists()


def test_images_and_features_of_another_extractor_are_refused(place, tmp_path):
    said = refusal("predict", place / "run", "digits", "--out", "p.csv", "--data-option", "n_bags=3", cwd=tmp_path)
    assert re.search(r"has images of \d+×\d+, the model needs 16 features \(trained on", said)
    save_bags(NEEDLES.replace(extractor="virchow"), tmp_path / "other")
    said = refusal("predict", place / "run", "other", "--out", "p.csv", cwd=tmp_path)
    assert "features of 'virchow', the model was trained on those of 'uni'" in said


@pytest.mark.parametrize("dtype", [complex, object, str, "datetime64[s]", np.longdouble])
def test_what_are_no_numbers_are_refused(dtype):
    rows = np.zeros((2, 3)).astype(dtype)
    with pytest.raises(InputError, match="convert them to numbers"):
        Bags(rows, np.array([0, 2]))


def test_two_bags_of_one_name_are_refused_by_name(tmp_path):
    with pytest.raises(InputError, match="bag 'twin' occurs more than once"):
        Bags.from_list([np.zeros((1, 2))] * 3, names=["twin", "other", "twin"])
    write_table(tmp_path / "labels.csv", [["slide_id", "label"], ["s", 1], ["s", 0]])
    folder = trident_slide(tmp_path, "s", features(), grid())
    said = refusal("import", folder, "--labels", "labels.csv", "--out", "bags", "-q", cwd=tmp_path)
    assert "slide 's' is there twice" in said


def test_labels_without_bags_and_bags_without_labels_are_both_listed(tmp_path):
    for slide in ("a", "b", "c"):
        folder = trident_slide(tmp_path, slide, features(), grid())
    write_table(tmp_path / "labels.csv", [["slide_id", "label"], ["a", 1], ["x", 0], ["y", 0]])
    said = refusal("import", folder, "--labels", "labels.csv", "--out", "bags", "-q", cwd=tmp_path)
    assert "without a label: b, c; without features: x, y" in said
    write_table(tmp_path / "rows.csv", [["bag", "f"], ["a", 1], ["b", 2]])
    write_table(tmp_path / "bags.csv", [["bag", "label"], ["a", 1], ["x", 0]])
    said = refusal("train", "rows.csv", "run", "--data-option", "bags=bags.csv", cwd=tmp_path)
    assert "bags.csv: b; without instances in" in said
    assert "rows.csv: x; mend the names" in said
    assert not (tmp_path / "run").exists()


def test_a_patient_on_both_sides_is_refused_unless_it_is_asked_for(tmp_path):
    patients = [f"p{number // 2}" for number in range(20)]
    save_bags(grouped(NEEDLES, patients), tmp_path / "bags")
    save_bags(grouped(NEEDLES[:8], ["p1", "q", "p3", *"rstuv"]), tmp_path / "more")
    names = NEEDLES.names.tolist()
    rows = [[row, name, "", ""] for row, name in enumerate(names[:9])] + [["9", names[10], "", names[9]]]
    write_table(tmp_path / "torn.csv", [["", "train", "val", "test"], *rows])
    quick = ("--epochs", "1", "--engine", "torch", "-q")
    said = refusal("train", "bags", "run", "--test", "more", *quick, cwd=tmp_path)
    assert "2 groups (e.g. patients) of the test bags of" in said
    assert "more' also have training bags: p1, p3; remove their bags from one of the two" in said
    assert "allow this with --ungrouped" in said
    assert "groups in both the training and the test part: ['p4']" in refusal(
        "train", "bags", "run", "--splits", "torn.csv", *quick, cwd=tmp_path
    )
    said = refusal("compare", "bags", "--methods", "MI-SVM", "--splits", "torn.csv", "--out", "c", cwd=tmp_path)
    assert "groups in both the training and the test part: ['p4']" in said
    assert not (tmp_path / "run").exists()
    run_quietly("train", "bags", "run", "--test", "more", "--ungrouped", *quick, cwd=tmp_path)
    assert Run(tmp_path / "run").test_bags().groups.tolist()[:3] == ["p1", "q", "p3"]


def test_a_patient_who_was_learned_from_judges_no_model_unless_it_is_asked_for(tmp_path):
    save_bags(grouped(NEEDLES, [f"p{number // 2}" for number in range(20)]), tmp_path / "bags")
    save_bags(grouped(NEEDLES[:8], list("abcdefgh")), tmp_path / "strangers")
    run_quietly("train", "bags", "run", "--test", "0.2", "--epochs", "1", "--engine", "torch", cwd=tmp_path)
    said = refusal("evaluate", "run", "bags", cwd=tmp_path)
    assert "8 groups (e.g. patients) of the test bags of 'bags' also have training bags: p" in said
    run_quietly("evaluate", "run", "bags", "--ungrouped", cwd=tmp_path)
    run_quietly("evaluate", "run", "strangers", cwd=tmp_path)
    run_quietly("evaluate", "run", cwd=tmp_path)


def test_bags_that_were_learned_from_are_known_by_their_names(place):
    run = Run(place / "run")
    with pytest.warns(UserWarning, match="16 bags of 'bags' have the same names as bags that the model was trained on"):
        run.check_unseen(NEEDLES, "bags")
    run.check_unseen(run.test_bags(), "test")


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_numbers_that_are_not_finite_are_refused_with_bag_row_and_count(tmp_path, bad):
    rows = features()
    rows[2:4, 1] = bad
    with pytest.raises(InputError, match="bag 'b' has 2 values that are NaN or infinite, first in its row 2"):
        Bags.from_list([features(), rows], names=["a", "b"])
    folder = trident_slide(tmp_path, "s", rows, grid())
    write_table(tmp_path / "labels.csv", [["slide_id", "label"], ["s", 1]])
    said = refusal("import", folder, "--labels", "labels.csv", "--out", "bags", "-q", cwd=tmp_path)
    assert "slide 's' has 2 NaN or infinite features, first in row 2" in said
    write_table(tmp_path / "rows.csv", [["bag", "label", "f"], ["a", 1, 0.5], ["b", 0, bad]])
    assert "rows.csv, line 3, column 'f' is" in refusal("train", "rows.csv", "run", cwd=tmp_path)


def test_an_empty_bag_is_refused_in_fit_and_in_prediction():
    model, bags = BagClassifier(epochs=1, engine="torch"), [np.ones((2, 3)), np.ones((0, 3)), np.ones((1, 3))]
    with pytest.raises(InputError, match="bag 1 is without instances"):
        model.fit(bags, [0, 1, 1])
    model.fit(bags[::2], [0, 1])
    with pytest.raises(InputError, match="bag 1 is without instances"):
        model.predict_proba(bags)


def test_an_empty_slide_is_a_line_of_its_own_without_a_probability(place, tmp_path):
    """As another tool wrote it: no tissue was found on a slide."""
    draws = np.random.default_rng(0)
    for slide in ("a", "blank", "c"):
        rows = draws.normal(size=(0 if slide == "blank" else 5, 16)).astype(np.float32)
        folder = trident_slide(tmp_path, slide, rows, grid(len(rows)), encoder="uni")
    write_table(tmp_path / "labels.csv", [["slide_id", "label"], ["a", 1], ["blank", 0], ["c", 0]])
    run_quietly("import", folder, "--labels", "labels.csv", "--out", "bags", "-q", cwd=tmp_path)
    run_quietly("predict", place / "run", "bags", "--out", "p.csv", "-q", cwd=tmp_path)
    with (tmp_path / "p.csv").open(newline="") as stream:
        rows = {row["bag"]: row for row in csv.DictReader(stream)}
    assert list(rows) == ["a", "c", "blank"]
    assert rows["blank"]["status"] == "empty"
    assert rows["blank"]["n_instances"] == "0"
    assert all(rows["blank"][title] == "" for title in rows["blank"] if title not in ("bag", "status", "n_instances"))
    assert all(0 <= float(rows[slide]["probability 1"]) <= 1 for slide in ("a", "c"))
