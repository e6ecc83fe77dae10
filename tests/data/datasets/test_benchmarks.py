import numpy as np
import pytest

from bagwise.data.datasets import benchmarks
from bagwise.data.datasets.registry import load_dataset
from real_data import needs_real_data

CLASSIC = {  # bags, positive bags, instances, features, constant features
    "musk1": (92, 47, 476, 166, 0),
    "musk2": (102, 39, 6598, 166, 0),
    "fox": (200, 100, 1320, 230, 108),
    "tiger": (200, 100, 1220, 230, 106),
    "elephant": (200, 100, 1391, 230, 120),
}
EXTRA = {  # bags, positive bags, instances, features
    "ucsb-breast": (58, 26, 2002, 708),
    "newsgroups-1": (100, 50, 5443, 200),
    "brown-creeper": (548, 197, 10_232, 38),
    "newsgroups-2": (100, 50, 3094, 200),
    "mutagenesis-1": (188, 125, 10_486, 7),
    "protein": (193, 25, 26_611, 9),
    "corel-beach": (2000, 100, 7947, 9),
}
needs_classic = needs_real_data(*CLASSIC)


@needs_classic
@pytest.mark.parametrize("name", CLASSIC)
def test_make_classic_loader_loads_the_published_counts(name):
    bags = load_dataset(name)
    n_constant = int((bags.instances == bags.instances[0]).all(axis=0).sum())
    n_positive = int(bags.labels.sum())
    assert (bags.n_bags, n_positive, bags.n_instances, *bags.instance_shape, n_constant) == CLASSIC[name]


@needs_classic
@pytest.mark.parametrize("name", ["fox", "tiger", "elephant"])
def test_make_classic_loader_leaves_constant_features_a_negligible_deviation(name):
    """The deviation is not exactly zero, because of rounding that depends on the order of summation."""
    instances = load_dataset(name).instances
    constant = (instances == instances[0]).all(axis=0)
    assert instances.std(axis=0)[constant].max() < 1e-12
    assert instances.std(axis=0)[~constant].min() > 1e-6


@needs_classic
def test_make_classic_loader_names_bags_as_in_the_file_and_does_not_swap_musk():
    musk1, musk2 = load_dataset("musk1"), load_dataset("musk2")
    assert musk1.names[0] == "MUSK-188"
    assert musk1.names[-1] == "NON-MUSK-jp13"
    assert musk2.sizes.max() == 1044
    for bags in (musk1, musk2):
        assert [name.startswith("MUSK") for name in bags.names] == (bags.labels == 1).tolist()
    assert load_dataset("fox").names.tolist() == [str(number) for number in range(1, 201)]


@needs_classic
def test_make_classic_loader_does_not_scale_the_values():
    bags = load_dataset("musk1")
    assert bags.instances.dtype == np.float32
    assert (bags.instances == np.rint(bags.instances)).all()
    assert np.abs(bags.instances).max() > 100


@needs_real_data(*EXTRA)
@pytest.mark.parametrize("name", EXTRA)
def test_extra_data_sets_load_the_counts_of_their_files(name):
    bags = load_dataset(name)
    assert (bags.n_bags, int(bags.labels.sum()), bags.n_instances, *bags.instance_shape) == EXTRA[name]
    assert bags.instances.flags.c_contiguous


def test_make_extra_loader_transposes_features_and_groups_the_rows_of_a_bag(tmp_path, monkeypatch):
    texts = {"data": "1\t2\t3\n4\t5\t6\n", "bagids": "7\n5\n7\n", "labels": "1\n0\n1\n"}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(
        benchmarks, "locate_files", lambda name: {f"{name}/{part}.csv": tmp_path / part for part in texts}
    )
    bags = load_dataset("newsgroups-1")
    np.testing.assert_array_equal(bags.instances, [[1, 4], [3, 6], [2, 5]])
    assert bags.names.tolist() == ["7", "5"]
    assert bags.labels.tolist() == [1, 0]
