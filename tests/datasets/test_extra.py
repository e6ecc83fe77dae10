import numpy as np
import pytest

from bagwise.datasets import extra, load_dataset
from real_data import needs_real_data

COUNTS = {
    "ucsb-breast": (58, 26, 2002, 708),
    "newsgroups-1": (100, 50, 5443, 200),
    "brown-creeper": (548, 197, 10_232, 38),
}


@needs_real_data(*COUNTS)
@pytest.mark.parametrize("name", COUNTS)
def test_the_counts_are_those_of_the_files(name):
    bags = load_dataset(name)
    assert (bags.n_bags, int(bags.labels.sum()), bags.n_instances, *bags.instance_shape) == COUNTS[name]
    assert bags.instances.flags.c_contiguous


def test_features_are_turned_and_rows_of_a_bag_are_put_together(tmp_path, monkeypatch):
    texts = {"data": "1\t2\t3\n4\t5\t6\n", "bagids": "7\n5\n7\n", "labels": "1\n0\n1\n"}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(extra, "locate", lambda name: {f"{name}/{part}.csv": tmp_path / part for part in texts})
    bags = load_dataset("newsgroups-1")
    np.testing.assert_array_equal(bags.instances, [[1, 4], [3, 6], [2, 5]])
    assert bags.names.tolist() == ["7", "5"]
    assert bags.labels.tolist() == [1, 0]
