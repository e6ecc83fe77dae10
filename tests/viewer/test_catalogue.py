import csv

from bagwise.runs import Run
from bagwise.viewer.catalogue import describe_run, list_bags


def test_probabilities_are_the_text_of_the_predictions(image_runs):
    run = Run(image_runs / "attention")
    with (run.folder / "predictions.csv").open(newline="", encoding="utf-8") as stream:
        written = list(csv.DictReader(stream))
    for row, bag in zip(written, list_bags(run), strict=True):
        assert bag["name"] == row["bag"]
        assert bag["probabilities"] == [row["probability dark"], row["probability light"]]
        assert bag["right"] == (row["label"] == row["predicted"])
        assert bag["n_instances"] == int(row["n_instances"])
        assert bag["group"] is None


def test_runs_on_the_same_test_bags_can_be_told(image_runs, digits_run):
    one, two = (describe_run(0, name, Run(image_runs / name)) for name in ("attention", "instances"))
    other = describe_run(2, "digits", digits_run)
    assert one["test_bags"] == two["test_bags"] != other["test_bags"]
    assert (one["pooling"], two["pooling"], two["level"]) == ("attention", "max", "instance")
    assert one["metrics"]["auc"] == Run(image_runs / "attention").metrics["bags"]["auc"]["value"]
