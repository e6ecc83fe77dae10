"""A new kind of target needs one file: training, metrics, runs, comparison, pages, explanation and viewer work."""

import csv
import json

import httpx
import numpy as np
import pytest

from bagwise.bags import make_survival_labels, save_bags
from bagwise.data.datasets import load_dataset
from bagwise.errors import InputError
from bagwise.estimators import BagClassifier, BagEstimator, Ensemble, build_method
from bagwise.evaluation import evaluate
from bagwise.evaluation.comparison import compare_methods, make_plan
from bagwise.explain import BagLayers, ExplanationSettings, explain_bags, make_overview_rows, write_explanation
from bagwise.report import export_run, write_comparison_page, write_report
from bagwise.runs import ModelPredictions, OpenRun, Run, execute_run, load_model
from bagwise.training import TrainingProgress
from bagwise.viewer import Session
from command_line import bagwise
from toy_target import BagCounter
from viewer.serving import served

NEEDLES = load_dataset("needles", n_bags=60)
COUNTS = np.add.reduceat(NEEDLES.instance_labels, NEEDLES.offsets[:-1])
QUICK = {"epochs": 4, "learning_rate": 0.005, "random_state": 0}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder of bags whose labels are counts."""
    path = tmp_path_factory.mktemp("counts") / "bags"
    save_bags(NEEDLES.replace(labels=COUNTS.astype(float)), path)
    return path


@pytest.fixture(scope="module")
def run(folder):
    parameters = {**QUICK, "target": "counts"}
    source = {"data": str(folder), "options": {}, "test": 0.25, "splits": None}
    return execute_run(folder.parent / "run", {"data": source, "method": None, "parameters": parameters})


def test_network_learns_counts_with_the_torch_engine(tmp_path):
    model = BagCounter(**{**QUICK, "epochs": 30}, validation=2, engine="auto").fit(NEEDLES, COUNTS)
    rates = model.predict_outputs(NEEDLES)
    assert (model.engine_, rates.shape) == ("torch", (60, 1))
    np.testing.assert_array_equal(model.predict(NEEDLES), rates[:, 0].astype(np.float32))
    assert np.abs(rates[:, 0] - COUNTS).mean() < 0.9 * np.abs(COUNTS.mean() - COUNTS).mean()
    assert not hasattr(model, "predict_proba")
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(BagEstimator.load(tmp_path / "model").predict_outputs(NEEDLES), rates)


def test_fused_engine_leaves_the_likelihood_to_torch_with_the_reason():
    remarks = []

    class Progress(TrainingProgress):
        def engine(self, choice):
            remarks.append(str(choice))

    BagCounter(**QUICK, engine="auto").fit(NEEDLES, COUNTS, progress=Progress())
    assert remarks == ["engine: torch (the fused engine does not support the likelihood 'poisson')"]
    with pytest.raises(InputError, match="does not support the likelihood 'poisson'; use engine='auto'"):
        BagCounter(**QUICK, engine="fused").fit(NEEDLES, COUNTS)


@pytest.mark.parametrize("parameters", [{"pooling": "mean", "level": "instance"}, {"connections": "deep supervision"}])
def test_network_learns_counts_at_instance_level_and_with_connections(parameters):
    model = BagCounter(**QUICK, **parameters).fit(NEEDLES, COUNTS)
    assert (model.predict_outputs(NEEDLES) > 0).all()


def test_evaluate_has_the_metrics_of_the_target_with_intervals():
    model, test, counts = BagCounter(**QUICK).fit(NEEDLES[:30], COUNTS[:30]), NEEDLES[30:], COUNTS[30:]
    found = evaluate(model, test, counts).metrics["bags"]["mean_absolute_error"]
    assert found["value"] == pytest.approx(np.abs(model.predict(test) - counts).mean(), rel=1e-6)
    assert found["interval"][0] < found["value"] < found["interval"][1]


def test_ensemble_averages_rates():
    ensemble = Ensemble(BagClassifier(**QUICK, target="counts"), n=2, random_state=0).fit(NEEDLES, COUNTS)
    members = [member.predict_outputs(NEEDLES) for member in ensemble.members_]
    np.testing.assert_allclose(ensemble.predict_outputs(NEEDLES), np.mean(members, axis=0))
    assert not hasattr(ensemble, "predict_proba")


def test_contributions_sum_to_the_log_rate():
    model = BagCounter(**QUICK).fit(NEEDLES, COUNTS)
    explanation = explain_bags(model, NEEDLES)
    sums = np.add.reduceat(explanation.contributions, NEEDLES.offsets[:-1])
    assert (explanation.names, explanation.method) == (("needles",), "closed form")
    np.testing.assert_allclose(np.exp(explanation.baseline + sums), explanation.outputs, rtol=1e-4)


def test_run_has_predictions_report_card_and_explanation(run, tmp_path):
    with (run.folder / "predictions.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["bag", "status", "n_instances", "label", "predicted", "rate"]
    np.testing.assert_array_equal([float(row["rate"]) for row in rows], load_model(run.folder).predict_outputs(
        run.test_bags())[:, 0])  # fmt: skip
    page = write_report(run).read_text()
    for part in ("Mean absolute error", "Learning curves", "Highest predictions", "predicts counts"):
        assert part in page
    assert "class" not in page.split("<main>")[1].split('id="setup"')[0].replace("class=", "")
    export_run(run, tmp_path / "exported")
    card = json.loads((tmp_path / "exported" / "card.json").read_text())
    assert (card["target"], "classes" in card) == ("counts", False)
    assert len(make_overview_rows(run)) == len(rows)
    opened = OpenRun(run)
    names = write_explanation(tmp_path / "bag", opened, BagLayers(opened), 0, None, ExplanationSettings())
    assert {"explanation.json", "instances.csv", "outputs.npy", "contributions.npy", "curves.png"} <= set(names)
    explanation = json.loads((tmp_path / "bag" / "explanation.json").read_text())
    assert explanation["outputs"] == {"needles": rows[0]["rate"]}
    with (tmp_path / "bag" / "instances.csv").open() as file:
        assert {"contribution needles", "output alone needles"} <= set(next(csv.reader(file)))


def test_viewer_names_the_outputs(run):
    with served(Session({"run": run})) as address, httpx.Client(base_url=address) as client:
        check_routes(client, run)


def check_routes(client, run):
    (described,) = client.get("/api/runs").json()
    assert (described["outputs"], described["output_kind"], described["right_or_wrong"]) == (["needles"], "rate", False)
    assert [layer["name"] for layer in described["layers"]] == ["weight", "contribution", "output"]
    bag = client.get("/api/runs/0/bags").json()[0]
    assert (bag["outputs"], bag["shown"], bag["correct"]) == ([run.predictions[0]["rate"]], 0, None)
    values = np.frombuffer(client.get("/api/runs/0/bags/0/layers/output/0/exact").content, "<f4")
    assert len(values) == bag["n_instances"]
    assert client.get("/api/runs/0/bags/0/layers/probability/0/exact").status_code == 404
    assert len(client.get("/api/runs/0/bags/0/instances/0").json()["outputs"]) == 1


def test_comparison_has_the_metrics_of_the_target(folder, tmp_path):
    methods = {"attention": {"epochs": 2, "target": "counts"}, "embedding+mean": {"epochs": 2, "target": "counts"}}
    comparison = compare_methods(tmp_path / "comparison", make_plan(str(folder), methods, folds=3))
    assert {method: list(scores) for method, scores in comparison.scores.items()} == {
        method: ["mean_absolute_error"] for method in methods
    }
    unit = comparison.units["attention"][0]
    assert set(unit["predictions"]["bags"]) == {"targets", "outputs"}
    assert "Mean absolute error" in write_comparison_page(comparison).read_text()


def test_train_records_the_kind_of_target(folder, tmp_path):
    path = tmp_path / "run"
    assert bagwise("train", folder, path, "--target", "counts", "--epochs", "1").returncode == 0
    assert Run(path).parameters["parameters"]["target"] == "counts"
    printed = bagwise("evaluate", path).stdout
    assert "Mean absolute error" in printed
    assert "positive" not in printed


def test_target_is_refused_by_what_it_cannot_be_used_for():
    with pytest.raises(InputError, match=r"target .count. is unknown; .*counts"):
        BagClassifier(target="count").fit(NEEDLES, COUNTS)
    with pytest.raises(InputError, match=r"a target of the kind .counts. has no positive class"):
        BagClassifier(target="counts", positive=1).fit(NEEDLES, COUNTS)
    with pytest.raises(InputError, match="calibration is for probabilities, but y has counts"):
        BagClassifier(target="counts", calibration=True, validation=0.2).fit(NEEDLES, COUNTS)
    with pytest.raises(InputError, match="class_weight is for classes, but y has counts"):
        BagClassifier(target="counts", class_weight="balanced").fit(NEEDLES, COUNTS)
    with pytest.raises(InputError, match="has no parameter 'target'"):
        build_method("MI-SVM", target="counts")


PAIR = np.stack([COUNTS, np.where(np.arange(60) % 7, NEEDLES.sizes, np.nan)], axis=1)
SURVIVAL = make_survival_labels(NEEDLES.sizes.astype(float), COUNTS > 0)
COLUMNS = {
    "pair counts": (["label needles", "label size"], ["predicted needles", "predicted size"]),
    "durations": (["time", "event"], ["predicted time", "predicted event"]),
}


@pytest.fixture(scope="module", params=COLUMNS)
def wide_run(request, tmp_path_factory):
    """A run whose bags have two labels, or a time and an event."""
    path = tmp_path_factory.mktemp("wide")
    labels = (
        {"labels": PAIR, "label_names": ["needles", "size"]} if request.param == "pair counts" else {"labels": SURVIVAL}
    )
    save_bags(NEEDLES.replace(**labels, groups=np.arange(60) // 2), path / "bags")
    source = {"data": str(path / "bags"), "options": {}, "test": 0.25, "splits": None}
    return execute_run(path / "run", {"data": source, "method": None, "parameters": {**QUICK, "target": request.param}})


def test_run_of_several_labels_has_one_column_per_label(wide_run):
    labels, predicted = COLUMNS[wide_run.target.kind]
    outputs = [output.name for output in wide_run.target.outputs]
    with (wide_run.folder / "predictions.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["bag", "status", "n_instances", "group", *labels, *predicted, *outputs]
    with (wide_run.folder / "groups.csv").open() as file:
        assert next(csv.DictReader(file)).keys() >= {*predicted, *outputs}
    test = wide_run.test_bags()
    np.testing.assert_array_equal(wide_run.targets, wide_run.target.encode(test.labels, len(test)))
    for part in ("Mean absolute error", "Highest predictions", *(name.split()[-1] for name in labels)):
        assert part in write_report(wide_run).read_text()


def test_viewer_and_explanation_show_several_labels(wide_run, tmp_path):
    first = wide_run.predictions[0]
    shown = ", ".join(f"{name.split()[-1]}: {first[name] or 'unknown'}" for name in COLUMNS[wide_run.target.kind][0])
    with served(Session({"run": wide_run})) as address, httpx.Client(base_url=address) as client:
        bag = client.get("/api/runs/0/bags").json()[0]
        assert (bag["label"], bag["correct"]) == (shown, None)
        assert client.get("/api/runs/0/bags/0/instances/0").json()["outputs"]
    opened = OpenRun(wide_run)
    write_explanation(tmp_path / "bag", opened, BagLayers(opened), 0, None, ExplanationSettings())
    assert json.loads((tmp_path / "bag" / "explanation.json").read_text())["label"] == shown


def test_predict_writes_several_labels_and_leaves_unknown_ones_empty(wide_run, tmp_path):
    out, groups, data = tmp_path / "p.csv", tmp_path / "g.csv", wide_run.parameters["data"]["data"]
    assert bagwise("predict", wide_run.folder, data, "--out", out, "--groups", groups).returncode == 0
    labels, predicted = COLUMNS[wide_run.target.kind]
    with out.open() as file:
        rows = list(csv.DictReader(file))
    assert {*labels, *predicted} <= rows[0].keys()
    if wide_run.target.kind == "pair counts":
        found = [float(row["label size"] or "nan") for row in rows]
        np.testing.assert_array_equal(found, PAIR[:, 1])
    unlabelled = ModelPredictions(wide_run.folder, data)
    assert unlabelled.predictions[0][labels[0]] == rows[0][labels[0]]


def test_train_without_a_target_for_several_labels_names_the_kinds(wide_run, tmp_path):
    result = bagwise("train", wide_run.parameters["data"]["data"], tmp_path / "run", "--epochs", "1")
    assert result.returncode == 2
    assert "classes need one label per bag; choose one column with --data-option label=NAME" in result.stderr
    assert "Traceback" not in result.stderr
    assert not (tmp_path / "run").exists()


def test_comparison_of_several_labels_keeps_unknown_ones(wide_run, tmp_path):
    data, kind = wide_run.parameters["data"]["data"], wide_run.target.kind
    methods = {name: {"epochs": 1, "target": kind} for name in ("attention", "embedding+mean")}
    comparison = compare_methods(tmp_path / "comparison", make_plan(data, methods, folds=2))
    assert {method: list(scores) for method, scores in comparison.scores.items()} == {
        method: ["mean_absolute_error"] for method in methods
    }
    assert "Mean absolute error" in write_comparison_page(comparison).read_text()
