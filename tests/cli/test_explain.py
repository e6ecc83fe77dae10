import csv
import json

from bagwise.data.datasets.registry import load_dataset
from bagwise.estimators.registry import build_method
from command_line import bagwise, run_rejected


def test_explain_prints_the_exact_probabilities_of_the_run(image_runs, tmp_path):
    run = image_runs / "attention"
    with (run / "predictions.csv").open(newline="", encoding="utf-8") as stream:
        row = list(csv.DictReader(stream))[3]
    options = ("--show", "contribution", "--class", "dark", "--scale", "raw", "--beside", image_runs / "instances")
    done = bagwise("explain", run, "--bag", row["bag"], "--out", tmp_path / "why", *options, "--json")
    found = json.loads(done.stdout)
    assert found["probabilities"] == {label: row[f"probability {label}"] for label in ("dark", "light")}
    assert found["class"] == "dark"
    assert all((tmp_path / "why" / name).is_file() for name in found["files"])


def test_explain_without_bag_lists_all_bags_beside_the_run(digits_run, tmp_path):
    output = bagwise("explain", digits_run.folder, "--out", tmp_path / "bags.csv", cwd=tmp_path).stdout
    assert "next: bagwise explain" in output
    with (tmp_path / "bags.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["bag"] for row in rows] == [row["bag"] for row in digits_run.predictions]
    assert all(1 <= float(row["effective_number"]) <= int(row["n_instances"]) for row in rows)


def test_explain_rejects_wrong_arguments_with_the_fix(digits_run, tmp_path):
    run, bag = digits_run.folder, digits_run.predictions[0]["bag"]
    assert "has no test bag 'nothing'" in run_rejected("explain", run, "--bag", "nothing", cwd=tmp_path)
    assert "--show 'weigth' is unknown; did you mean 'weight'?" in run_rejected(
        "explain", run, "--bag", bag, "--show", "weigth", cwd=tmp_path
    )
    assert "--class 'nine' is unknown" in run_rejected("explain", run, "--bag", bag, "--class", "nine", cwd=tmp_path)
    assert "--scale 'ranked' is unknown" in run_rejected(
        "explain", run, "--bag", bag, "--scale", "ranked", cwd=tmp_path
    )
    assert "--opacity" in run_rejected("explain", run, "--bag", bag, "--opacity", "9", cwd=tmp_path)
    assert "--region '1,2' is not x,y,width,height" in run_rejected(
        "explain", run, "--bag", bag, "--region", "1,2", cwd=tmp_path
    )
    assert not list(tmp_path.iterdir())


def test_explain_rejects_unwritable_path_before_computing(digits_run, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setattr("bagwise.explain.bag.write_explanation", None)
    monkeypatch.setattr("bagwise.explain.trust.make_overview_rows", None)
    run, out = digits_run.folder, ("--out", tmp_path / "file" / "why")
    for which in (("--bag", digits_run.predictions[0]["bag"]), ()):
        assert "is a file or below a file" in run_rejected("explain", run, *which, *out, cwd=tmp_path)


def test_explain_opens_a_model_saved_from_python(tmp_path):
    bags = load_dataset("needles", n_bags=30)
    build_method("extra trees", random_state=0).fit(bags, bags.labels).save(tmp_path / "model")
    assert "bagwise explain" in run_rejected("explain", tmp_path / "model", cwd=tmp_path)  # it has no test bags
    data = ("needles", "--data-option", "n_bags=30")
    assert "30 bags" in bagwise("explain", tmp_path / "model", *data).stdout
    done = bagwise("explain", tmp_path / "model", *data, "--bag", bags.names[0], "--out", tmp_path / "why", "--json")
    assert json.loads(done.stdout)["label"] == str(bags.labels[0])
