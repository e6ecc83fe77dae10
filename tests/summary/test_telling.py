"""The telling bags are the extremes of their kind, told by their heaviest instances."""

import pytest

from bagwise.summary import summarise
from bagwise.summary.telling import MOST_INSTANCES


def shown(summary, kind):
    return next(group["bags"] for group in summary["telling_bags"] if group["kind"] == kind)


@pytest.mark.parametrize(
    ("kind", "label", "predicted", "sign", "most"),
    [
        ("hits", "1", "1", -1, 3),
        ("misses", "1", "0", 1, 3),
        ("false alarms", "0", "1", -1, 3),
        ("rejections", "0", "0", 1, 2),
    ],
)
def test_telling_bags_are_the_extremes(digits_run, summary, written, kind, label, predicted, sign, most):
    rows, _, _ = written(digits_run)
    kin = [row for row in rows if (row["label"], row["predicted"]) == (label, predicted)]
    kin.sort(key=lambda row: sign * float(row["probability 1"]))
    assert [bag["name"] for bag in shown(summary, kind)] == [row["bag"] for row in kin[:most]]
    assert [bag["probability"] for bag in shown(summary, kind)] == [float(row["probability 1"]) for row in kin[:most]]


def test_instances_are_those_of_most_weight_with_their_truth_and_picture(digits_run, summary, written):
    rows, weights, _ = written(digits_run)
    bags, names = digits_run.test_bags(), [row["bag"] for row in rows]
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


def test_several_classes_are_told_as_right_and_wrong(three_classes, written):
    summary, (rows, _, _) = summarise(three_classes), written(three_classes)
    assert [group["kind"] for group in summary["telling_bags"]] == ["right", "wrong"]
    for kind, right in (("right", True), ("wrong", False)):
        kin = [row for row in rows if (row["label"] == row["predicted"]) == right]
        surest = sorted((float(row[f"probability {row['predicted']}"]) for row in kin), reverse=True)
        assert [bag["probability"] for bag in shown(summary, kind)] == surest[:4]


def test_large_bags_say_what_they_leave_out(three_classes):
    bags = [bag for group in summarise(three_classes)["telling_bags"] for bag in group["bags"]]
    assert all(len(bag["instances"]) == min(bag["n_instances"], MOST_INSTANCES) for bag in bags)
    assert any(bag["left_out"]["n_instances"] > 0 for bag in bags)
    assert all(bag["left_out"]["n_key"] is None for bag in bags)  # there are no instance labels
    assert all(instance["picture"] is None for bag in bags for instance in bag["instances"])
