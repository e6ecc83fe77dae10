import numpy as np

from bagwise.estimators import BagEstimator
from bagwise.explain import explain
from bagwise.runs import Run
from bagwise.showing.instances import instance_rows
from bagwise.showing.layers import Layers
from bagwise.showing.shown_run import ShownRun


def test_every_number_reads_back_to_the_same_bits(image_runs):
    run = Run(image_runs / "attention")
    shown, bags = ShownRun(run), run.test_bags()
    rows = instance_rows(shown, Layers(shown), 1)
    expected = explain(BagEstimator.load(run.folder / "model"), bags[[1]])
    weights = run.weights[run.offsets[1] : run.offsets[2]]
    np.testing.assert_array_equal([float(row["weight"]) for row in rows], weights.astype(float))
    for number, label in enumerate(run.classes):
        found = [float(row[f"contribution {label}"]) for row in rows]
        np.testing.assert_array_equal(found, expected.contributions[:, number])
    np.testing.assert_array_equal([(row["x"], row["y"]) for row in rows], bags[[1]].positions)
    assert {row["bag"] for row in rows} == {bags.name(1)}
    assert [row["instance"] for row in rows] == [*range(len(weights))]
    assert "key" not in rows[0]


def test_true_key_instances_are_told_where_known_and_positions_only_where_there_are(digits_run):
    shown, bags = ShownRun(digits_run), digits_run.test_bags()
    rows = instance_rows(shown, Layers(shown), 0)
    assert [row["key"] for row in rows] == (bags[[0]].instance_labels > 0).astype(int).tolist()
    assert "x" not in rows[0]
