"""Bags: packed, immutable, and a selection of them is what a list of the same bags would be."""

import copy
import pickle
import resource

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator
from sklearn.model_selection import KFold, cross_val_score, train_test_split

from bagwise.bags import Bags
from bagwise.errors import InputError
from unchecked import unchecked

FIELDS = ("instances", "labels", "names", "groups", "positions", "instance_labels")
PER_BAG = ("labels", "names", "groups")
laws = settings(max_examples=50, deadline=None, derandomize=True)
layouts = st.lists(st.integers(1, 6), min_size=1, max_size=9)


def full_bags(sizes):
    """Bags with every companion, all of them distinct so that no mix-up goes unseen."""
    n_bags, n_instances = len(sizes), sum(sizes)
    return Bags(
        instances=np.arange(2.0 * n_instances).reshape(n_instances, 2),
        offsets=np.concatenate([[0], np.cumsum(sizes)]),
        labels=np.array([f"label {bag}" for bag in range(n_bags)]),
        names=np.array([f"bag {bag}" for bag in range(n_bags)]),
        groups=np.arange(n_bags) // 2,
        positions=np.arange(2 * n_instances).reshape(n_instances, 2) * 10,
        instance_labels=np.arange(n_instances),
    )


def as_list(bags):
    """Bags as a plain list: for each bag its own part of every field."""
    parts = []
    for bag in range(len(bags)):
        start, end = bags.offsets[bag], bags.offsets[bag + 1]
        values = {field: getattr(bags, field) for field in FIELDS}
        parts.append(
            {
                field: value[bag].tolist() if field in PER_BAG else value[start:end].tolist()
                for field, value in values.items()
                if value is not None
            }
        )
    return parts


def test_construction_keeps_rows_and_counts():
    bags = full_bags([2, 1, 3])
    assert (len(bags), bags.n_bags, bags.n_instances, bags.shape, bags.instance_shape) == (3, 3, 6, (3,), (2,))
    assert bags.sizes.tolist() == [2, 1, 3]
    assert bags.owners.tolist() == [0, 0, 1, 2, 2, 2]
    assert [bag.tolist() for bag in bags] == [part["instances"] for part in as_list(bags)]


def test_a_bag_is_called_by_its_name_or_else_its_number():
    assert full_bags([1, 2]).name(1) == "bag 1"
    assert Bags.from_list([[[0.0]], [[1.0]]]).name(1) == "1"


@pytest.mark.parametrize("field", [*FIELDS, "offsets"])
def test_writing_into_any_field_raises(field):
    bags = full_bags([2, 1])
    for changed in (bags, bags[:1], bags[[1, 0]]):
        with pytest.raises(ValueError, match="read-only"):
            getattr(changed, field)[0] = getattr(changed, field)[0]
        with pytest.raises(AttributeError):
            setattr(changed, field, None)


@pytest.mark.parametrize("copied", [lambda bags: pickle.loads(pickle.dumps(bags)), copy.deepcopy, copy.copy])
def test_a_copy_is_the_same_and_as_immutable(copied):
    bags = full_bags([2, 1])
    again = copied(bags)
    assert as_list(again) == as_list(bags)
    assert again.extractor == bags.extractor
    for field in (*FIELDS, "offsets"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(again, field)[0] = getattr(again, field)[0]


@pytest.mark.parametrize("dtype", [">f4", ">f8", ">i2", ">u4", "<f4"])
def test_numbers_of_any_byte_order_are_read(dtype):
    given = np.array([[1, 2], [3, 4]], dtype=dtype)
    labels, names = np.array([1, 256], dtype=">i4"), np.array(["a", "b"], dtype=">U1")
    bags = Bags(given, np.array([0, 1, 2], dtype=">i8"), labels=labels, names=names)
    assert bags.instances.dtype.isnative
    assert bags.labels.dtype.isnative
    assert bags.instances.tolist() == given.tolist()
    assert (bags.labels.tolist(), bags.names.tolist(), bags.sizes.tolist()) == ([1, 256], ["a", "b"], [1, 1])
    assert torch.from_numpy(bags.instances.copy()).tolist() == given.tolist()


def test_an_array_is_shared_and_a_mapped_file_stays_on_disk(tmp_path):
    instances = np.memmap(tmp_path / "rows", dtype=np.float32, mode="w+", shape=(3, 2))
    bags = Bags(instances, np.array([0, 1, 3]))
    assert np.shares_memory(bags.instances, instances)
    instances[0] = 5.0
    assert bags.instances[0].tolist() == [5.0, 5.0]


def test_writing_into_one_bag_raises():
    with pytest.raises(ValueError, match="read-only"):
        full_bags([2, 1])[0][0, 0] = 5.0


def test_the_callers_own_arrays_stay_writable():
    instances, offsets, labels = np.zeros((3, 2)), np.array([0, 1, 3]), np.array([0, 1])
    Bags(instances, offsets, labels)
    instances[0], offsets[0], labels[0] = 1.0, 0, 1
    assert instances.flags.writeable
    assert labels.flags.writeable


KEYS = {
    "list": ([3, 0, 3], [3, 0, 3]),
    "array": (np.array([4, 2]), [4, 2]),
    "negative numbers": ([-1, -5], [4, 0]),
    "slice": (slice(1, 4), [1, 2, 3]),
    "slice with a step": (slice(None, None, 2), [0, 2, 4]),
    "negative step": (slice(None, None, -1), [4, 3, 2, 1, 0]),
    "slice past the end": (slice(3, 99), [3, 4]),
    "list of booleans": ([True, False, True, False, True], [0, 2, 4]),
    "boolean mask": (np.array([False, True, True, False, False]), [1, 2]),
    "mask of nothing": (np.zeros(5, dtype=bool), []),
    "empty list": ([], []),
    "empty slice": (slice(2, 2), []),
    "range": (range(1, 3), [1, 2]),
}


@pytest.mark.parametrize("name", KEYS)
@pytest.mark.parametrize("form", [lambda key: key, lambda key: (key, ...), lambda key: (key, slice(None))])
def test_every_kind_of_selection_is_that_of_a_list(name, form):
    bags = full_bags([2, 1, 3, 1, 2])
    key, rows = KEYS[name]
    assert as_list(bags[form(key)]) == [as_list(bags)[row] for row in rows]


@laws
@given(layouts, st.data())
def test_selecting_rows_is_the_list_of_the_same_bags(sizes, data):
    bags = full_bags(sizes)
    rows = data.draw(st.lists(st.integers(-len(sizes), len(sizes) - 1), max_size=12))
    assert as_list(bags[rows]) == [as_list(bags)[row] for row in rows]


@laws
@given(layouts, st.data())
def test_slicing_is_that_of_the_list(sizes, data):
    bags, key = full_bags(sizes), data.draw(st.slices(len(sizes)))
    assert as_list(bags[key]) == as_list(bags)[key]


@laws
@given(layouts, st.data())
def test_selecting_twice_is_selecting_once(sizes, data):
    bags = full_bags(sizes)
    first = data.draw(st.lists(st.integers(0, len(sizes) - 1), min_size=1, max_size=9))
    second = data.draw(st.lists(st.integers(0, len(first) - 1), max_size=9))
    assert as_list(bags[first][second]) == as_list(bags[np.array(first)[np.array(second, dtype=int)]])


@pytest.mark.parametrize("bag", [1, -2, np.int64(1), np.array(1)])
def test_a_whole_number_gives_the_instances_of_that_bag(bag):
    bags = full_bags([2, 3, 1])
    np.testing.assert_array_equal(bags[bag], bags.instances[2:5])


@pytest.mark.parametrize(
    "key", [3, -4, [0, 3], np.array([-4]), [True, False], ([0], 1), ([0], ..., ...), 0.5, [0.5], "a"]
)
def test_selection_out_of_range_or_of_a_wrong_kind_raises_index_error(key):
    with pytest.raises(IndexError):
        full_bags([2, 3, 1])[key]


@pytest.mark.parametrize("key", [[[0, 1]], np.zeros((1, 2), dtype=int), None, True])
def test_selection_with_more_than_one_axis_raises_index_error(key):
    with pytest.raises(IndexError):
        full_bags([2, 3, 1])[key]


@pytest.mark.parametrize("key", [slice(1, 3), [1, 2], np.array([1, 2]), [False, True, True, False], 1, [1]])
def test_neighbours_are_a_view_without_a_copy(key):
    bags = full_bags([2, 1, 3, 1])
    chosen = bags[key]
    assert np.shares_memory(bags.instances, chosen if isinstance(key, int) else chosen.instances)


def test_selection_reads_only_the_chosen_rows_of_a_memory_mapped_file(tmp_path):
    rows, width = 1 << 22, 64  # one gigabyte of holes
    instances = np.memmap(tmp_path / "instances.npy", dtype=np.float32, mode="w+", shape=(rows, width))
    instances[5000] = 7.0
    bags = Bags.trusted(instances=instances, offsets=np.arange(0, rows + 1, 1024))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    neighbours, scattered = bags[3:9], bags[[4, 2000, 9]]
    assert np.shares_memory(neighbours.instances, instances)
    assert (neighbours.instances[5000 - 3 * 1024] == 7.0).all()
    assert (scattered.instances[5000 - 4 * 1024] == 7.0).all()
    assert scattered.sizes.tolist() == [1024] * 3
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100 * 1024  # kilobytes


@laws
@given(st.lists(layouts, min_size=1, max_size=4))
def test_concatenation_is_that_of_the_lists(parts):
    pieces = [
        full_bags(sizes).replace(names=[f"{number}-{bag}" for bag in range(len(sizes))])
        for number, sizes in enumerate(parts)
    ]
    assert as_list(Bags.concatenate(pieces)) == [bag for piece in pieces for bag in as_list(piece)]


@laws
@given(layouts.filter(lambda sizes: len(sizes) > 1), st.data())
def test_concatenating_the_two_sides_of_a_cut_restores_the_bags(sizes, data):
    bags, cut = full_bags(sizes), data.draw(st.integers(1, len(sizes) - 1))
    assert as_list(Bags.concatenate([bags[:cut], bags[cut:]])) == as_list(bags)


def test_concatenation_keeps_a_field_only_if_every_part_has_it():
    first, second = full_bags([2]), Bags.from_list([[[1.0, 2.0]]], labels=["x"])
    joined = Bags.concatenate([first, second])
    assert joined.labels.tolist() == ["label 0", "x"]
    assert joined.names is joined.groups is joined.positions is joined.instance_labels is None


def test_concatenation_of_different_widths_is_refused():
    with pytest.raises(InputError, match=r"differ in shape: \[\(1,\), \(2,\)\]"):
        Bags.concatenate([Bags.from_list([[[1.0]]]), Bags.from_list([[[1.0, 2.0]]])])


def test_concatenation_of_bags_of_the_same_name_is_refused():
    with pytest.raises(InputError, match="bag 'bag 0' is more than once"):
        Bags.concatenate([full_bags([1]), full_bags([2])])


@pytest.mark.parametrize("parts", [[], [[[1.0]]], [full_bags([1]), None]], ids=["nothing", "a list", "None"])
def test_concatenation_of_nothing_or_of_anything_else_is_refused(parts):
    with unchecked(), pytest.raises(InputError, match="nothing to concatenate; pass a list of at least one Bags"):
        Bags.concatenate(parts)


@pytest.mark.parametrize("field", ["labels", "groups"])
def test_concatenation_never_takes_a_number_for_a_word(field):
    number, word, half = (Bags.from_list([[[1.0]]], **{field: [value]}) for value in (1, "1", 1.5))
    with pytest.raises(InputError, match=f"cannot concatenate {field} of different kinds, int, str; convert one first"):
        Bags.concatenate([number, word])
    assert getattr(Bags.concatenate([number, half]), field).tolist() == [1.0, 1.5]


def test_map_changes_the_instances_and_keeps_everything_else():
    bags = full_bags([2, 1])
    mapped = bags.map(lambda rows: rows[:, :1] * 2)
    np.testing.assert_array_equal(mapped.instances, bags.instances[:, :1] * 2)
    for before, after in zip(as_list(bags), as_list(mapped), strict=True):
        assert {**before, "instances": None} == {**after, "instances": None}


def test_map_refuses_a_function_that_loses_rows_or_makes_them_infinite():
    with pytest.raises(InputError, match=r"gave shape \(2, 2\) for 3 instances; keep the rows"):
        full_bags([2, 1]).map(lambda rows: rows[1:])
    with pytest.raises(InputError, match="bag 'bag 0' has 2 values that are NaN or infinite, first in its row 0"):
        full_bags([2, 1]).map(lambda rows: np.where(rows < 2, np.inf, rows))


@pytest.mark.parametrize("returned", [3.0, None, "word"])
def test_map_refuses_a_function_that_returns_no_rows(returned):
    with pytest.raises(InputError, match=r"gave shape \(\) for 3 instances; keep the rows"):
        full_bags([2, 1]).map(lambda rows: returned)


def test_replace_changes_one_field_and_checks_it():
    bags = full_bags([2, 1])
    assert bags.replace(labels=[0, 1]).labels.tolist() == [0, 1]
    assert bags.replace(labels=None).labels is None
    with pytest.raises(InputError, match=r"labels has shape \(3,\) for 2 bags"):
        bags.replace(labels=[0, 1, 1])


@laws
@given(layouts)
def test_from_list_undoes_iteration(sizes):
    bags = full_bags(sizes)
    companions = {field: getattr(bags, field) for field in FIELDS[1:]}
    assert as_list(Bags.from_list(list(bags), **companions)) == as_list(bags)


def test_from_list_takes_a_generator_and_images():
    images = [np.full((size, 4, 5, 3), size, dtype=np.uint8) for size in (2, 1)]
    bags = Bags.from_list(image for image in images)
    assert (bags.instances.dtype, bags.instance_shape, bags.sizes.tolist()) == (np.uint8, (4, 5, 3), [2, 1])
    assert bags[0].tolist() == images[0].tolist()


EMPTY_BAGS = {
    "in the middle": ([[[1.0]], np.zeros((0, 1)), [[2.0]]], 1),
    "a bare list in the middle": ([[[1.0]], [], [[2.0]]], 1),
    "first": ([np.zeros((0, 1)), [[1.0]]], 0),
    "a bare list first": ([[], [[1.0]]], 0),
    "the only one": ([[]], 0),
}


@pytest.mark.parametrize("case", EMPTY_BAGS)
def test_from_list_names_the_empty_bag_and_says_to_drop_it(case):
    bags, empty = EMPTY_BAGS[case]
    with pytest.raises(InputError, match=f"bag {empty} is without instances; drop empty bags"):
        Bags.from_list(bags)
    names = ["a", "b", "c"][: len(bags)]
    with pytest.raises(InputError, match=f"bag '{names[empty]}' is without instances"):
        Bags.from_list(bags, names=names)


def test_from_list_names_the_bag_of_another_width():
    with pytest.raises(
        InputError, match=r"bag 'b' has instances of shape \(1,\), bag 'a' of \(2,\); every instance must"
    ):
        Bags.from_list([[[1.0, 2.0]], [[1.0]]], names=["a", "b"])


def test_from_list_names_the_bag_whose_rows_differ_in_length():
    with pytest.raises(InputError, match="bag 1 "):
        Bags.from_list([[[1.0, 2.0]], [[1.0, 2.0], [3.0]]])


def test_from_list_names_the_bag_that_is_no_table():
    with pytest.raises(InputError, match=r"bag 1 has shape \(2,\); a bag is a \(n_instances, …\) array"):
        Bags.from_list([[[1.0, 2.0]], [1.0, 2.0]])


def test_from_list_names_what_has_no_features():
    with pytest.raises(InputError, match=r"instances have shape \(3, 0\), hence no features"):
        Bags.from_list([np.zeros((2, 0)), np.zeros((1, 0))])


def test_from_list_of_nothing_is_refused():
    with pytest.raises(InputError, match="no bags in the list; pass at least one"):
        Bags.from_list([])


@pytest.mark.parametrize("bags", [[[[1.0]], np.zeros((0, 1))], [[[1.0]], [[1.0, 2.0]]], [[[1.0]], [[np.nan]]]])
def test_too_few_names_are_an_input_error_whatever_else_is_wrong(bags):
    with pytest.raises(InputError):
        Bags.from_list(bags, names=["a"])


def test_train_test_split_keeps_every_companion_aligned():
    bags = full_bags([2, 1, 3, 1, 2, 4, 1, 2])
    train, test, train_labels, test_labels = train_test_split(bags, bags.labels, test_size=3, random_state=5)
    assert train.labels.tolist() == train_labels.tolist()
    assert test.labels.tolist() == test_labels.tolist()
    whole = {part["names"]: part for part in as_list(bags)}
    assert all(whole[part["names"]] == part for part in as_list(train) + as_list(test))
    assert sorted([*train.names, *test.names]) == sorted(bags.names)


@pytest.mark.parametrize("shuffle", [False, True])
def test_k_folds_partition_the_bags(shuffle):
    bags = full_bags([2, 1, 3, 1, 2, 4, 1])
    tested = []
    for train_rows, test_rows in KFold(3, shuffle=shuffle, random_state=5 if shuffle else None).split(
        bags, bags.labels
    ):
        train, test = bags[train_rows], bags[test_rows]
        assert not set(train.names) & set(test.names)
        assert len(train) + len(test) == len(bags)
        tested += as_list(test)
    assert sorted(tested, key=str) == sorted(as_list(bags), key=str)


def test_scikit_learn_hands_an_estimator_bags_of_the_fold():
    bags = full_bags([2, 1, 3, 1, 2, 4])
    seen = []

    class Recorder(BaseEstimator):
        def fit(self, X, y):
            seen.append((X, y))
            return self

        def score(self, X, y):
            return float((X.labels == y).all())

    scores = cross_val_score(Recorder(), bags, bags.labels, cv=KFold(3))
    assert scores.tolist() == [1.0] * 3
    assert all(isinstance(train, Bags) and train.labels.tolist() == list(labels) for train, labels in seen)
