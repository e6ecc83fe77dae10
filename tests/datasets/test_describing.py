import json

from bagwise.bags import Bags
from bagwise.datasets.describing import describe


def test_the_numbers_are_those_of_the_bags_and_fit_into_json():
    bags = Bags.from_list([[[1.0, 2.0]], [[3.0, 4.0]] * 4], labels=["no", "yes"], groups=["a", "a"])
    counts = json.loads(json.dumps(describe(bags)))
    assert counts["n_bags"] == 2
    assert counts["labels"] == {"no": 1, "yes": 1}
    assert counts["n_instances"] == 5
    assert counts["instance_shape"] == [2]
    assert counts["bag_sizes"] == {"min": 1, "median": 2.5, "mean": 2.5, "max": 4}
    assert counts["n_groups"] == 1
    assert counts["instance_labels"] is None
