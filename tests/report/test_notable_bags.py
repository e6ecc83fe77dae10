import pytest

from bagwise.report.notable_bags import MAX_INSTANCES
from bagwise.report.summary import summarise_run


def get_bags(summary, kind):
    return next(group["bags"] for group in summary["notable_bags"] if group["kind"] == kind)


@pytest.mark.parametrize(
    ("kind", "label", "predicted", "sign", "max_bags"),
    [
        ("true positives", "1", "1", -1, 3),
        ("false negatives", "1", "0", 1, 3),
        ("false positives", "0", "1", -1, 3),
        ("true negatives", "0", "0", 1, 2),
    ],
)
def test_find_notable_bags_finds_the_extremes_of_each_kind(
    digits_run, summary, read_files, kind, label, predicted, sign, max_bags
):
    rows, _, _ = read_files(digits_run)
    members = [row for row in rows if (row["label"], row["predicted"]) == (label, predicted)]
    members.sort(key=lambda row: sign * float(row["probability 1"]))
    bags = get_bags(summary, kind)
    assert [bag["name"] for bag in bags] == [row["bag"] for row in members[:max_bags]]
    assert [bag["output"] for bag in bags] == [float(row["probability 1"]) for row in members[:max_bags]]


def test_find_notable_bags_of_several_classes_finds_correct_and_wrong_predictions(three_classes_run, read_files):
    summary, (rows, _, _) = summarise_run(three_classes_run), read_files(three_classes_run)
    assert [group["kind"] for group in summary["notable_bags"]] == ["correct", "wrong"]
    for kind, is_correct in (("correct", True), ("wrong", False)):
        members = [row for row in rows if (row["label"] == row["predicted"]) == is_correct]
        confidences = sorted((float(row[f"probability {row['predicted']}"]) for row in members), reverse=True)
        assert [bag["output"] for bag in get_bags(summary, kind)] == confidences[:4]


def test_find_notable_bags_shows_the_heaviest_instances_with_truth_and_picture(digits_run, summary, read_files):
    rows, weights, _ = read_files(digits_run)
    bags, names = digits_run.test_bags(), [row["bag"] for row in rows]
    for group in summary["notable_bags"]:
        for bag in group["bags"]:
            start, end = bags.offsets[names.index(bag["name"]) :][:2]
            bag_weights = weights[start:end]
            shown_weights = [instance["weight"] for instance in bag["instances"]]
            assert shown_weights == sorted(bag_weights.tolist(), reverse=True)[:MAX_INSTANCES]
            for instance in bag["instances"]:
                assert instance["weight"] == bag_weights[instance["number"]]
                assert instance["key"] == (bags.instance_labels[start + instance["number"]] > 0)
                assert instance["picture"].startswith("data:image/png;base64,")
            assert bag["n_instances"] == end - start == len(shown_weights) + bag["left_out"]["n_instances"]
            assert sum(shown_weights) + bag["left_out"]["weight"] == pytest.approx(1, abs=1e-5)


def test_find_notable_bags_counts_instances_that_are_not_shown(three_classes_run):
    bags = [bag for group in summarise_run(three_classes_run)["notable_bags"] for bag in group["bags"]]
    assert all(len(bag["instances"]) == min(bag["n_instances"], MAX_INSTANCES) for bag in bags)
    assert any(bag["left_out"]["n_instances"] > 0 for bag in bags)
    assert all(bag["left_out"]["n_key"] is None for bag in bags)  # the bags have no instance labels
    assert all(instance["picture"] is None for bag in bags for instance in bag["instances"])
