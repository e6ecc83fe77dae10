import numpy as np
import pytest

from bagwise.datasets import load_dataset
from bagwise.errors import InputError
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


def write(home, **columns):
    folder = home / "mil_extra" / "Newsgroups1"
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in columns.items():
        (folder / f"{name}.csv").write_text(text)


def test_features_are_turned_and_rows_of_a_bag_are_put_together(empty_home):
    write(empty_home, data="1\t2\t3\n4\t5\t6\n", bagids="7\n5\n7\n", labels="1\n0\n1\n")
    bags = load_dataset("newsgroups-1")
    np.testing.assert_array_equal(bags.instances, [[1, 4], [3, 6], [2, 5]])
    assert bags.names.tolist() == ["7", "5"]
    assert bags.labels.tolist() == [1, 0]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"labels": "1\n0\n"}, "differ in length"),
        ({"labels": "1\n0\n0\n"}, "bag '7' has two labels"),
        ({"data": "1\tx\t3\n"}, r"data\.csv is damaged"),
    ],
)
def test_damaged_files_are_refused_by_name(empty_home, columns, message):
    write(empty_home, **({"data": "1\t2\t3\n", "bagids": "7\n5\n7\n", "labels": "1\n0\n1\n"} | columns))
    with pytest.raises(InputError, match=message):
        load_dataset("newsgroups-1")


def test_a_csv_without_features_is_refused(empty_home):
    (empty_home / "mil_extra").mkdir(parents=True)
    (empty_home / "mil_extra" / "ucsb_breast_cancer.csv").write_text("1,2\n")
    with pytest.raises(InputError, match="has 2 columns"):
        load_dataset("ucsb-breast")
