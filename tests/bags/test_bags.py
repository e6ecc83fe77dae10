"""Bags are packed and immutable, and selections equal those of a list of bags."""

import copy
import pickle
import re
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator
from sklearn.model_selection import KFold, cross_val_score, train_test_split

from bagwise.bags.bags import Bags
from bagwise.errors import InputError
from label_kinds import LABELS
from unchecked import unchecked

FIELDS = ("instances", "labels", "names", "groups", "positions", "instance_labels")
PER_BAG = ("labels", "names", "groups")

laws = settings(max_examples=50, deadline=None, derandomize=True)
layouts = st.lists(st.integers(1, 6), min_size=1, max_size=9)
kinds = st.sampled_from([*LABELS])
for_every_kind_of_label = pytest.mark.parametrize("kind", LABELS)


def make_bags(sizes, kind="text"):
    """Return bags with all metadata and distinct values, so that the tests detect values in a wrong place."""
    n_bags, n_instances = len(sizes), sum(sizes)
    return Bags(
        instances=np.arange(2.0 * n_instances).reshape(n_instances, 2),
        offsets=np.concatenate([[0], np.cumsum(sizes)]),
        **LABELS[kind](n_bags),
        names=np.array([f"bag {bag}" for bag in range(n_bags)]),
        groups=np.arange(n_bags) // 2,
        positions=np.arange(2 * n_instances).reshape(n_instances, 2) * 10,
        instance_labels=np.arange(n_instances),
    )


def as_list(bags):
    """Return bags as a list with the values of every field for each bag."""
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
        if bags.labels is not None:
            parts[-1] |= {"labels": str(bags.labels[bag].tolist()), "label_names": bags.label_names}  # NaN equals NaN
    return parts


def test_bags_have_the_sizes_and_rows_they_were_built_from():
    bags = make_bags([2, 1, 3])
    assert (len(bags), bags.n_bags, bags.n_instances, bags.shape, bags.instance_shape) == (3, 3, 6, (3,), (2,))
    assert bags.sizes.tolist() == [2, 1, 3]
    assert bags.bag_indices.tolist() == [0, 0, 1, 2, 2, 2]
    assert [bag.tolist() for bag in bags] == [part["instances"] for part in as_list(bags)]


def test_name_is_the_name_of_a_bag_or_its_index():
    assert make_bags([1, 2]).name(1) == "bag 1"
    assert Bags.from_list([[[0.0]], [[1.0]]]).name(1) == "1"


@pytest.mark.parametrize("field", [*FIELDS, "offsets"])
def test_bags_and_selections_are_immutable(field):
    bags = make_bags([2, 1])
    for selection in (bags, bags[:1], bags[[1, 0]]):
        with pytest.raises(ValueError, match="read-only"):
            getattr(selection, field)[0] = getattr(selection, field)[0]
        with pytest.raises(AttributeError):
            setattr(selection, field, None)


@pytest.mark.parametrize("make_copy", [lambda bags: pickle.loads(pickle.dumps(bags)), copy.deepcopy, copy.copy])
@for_every_kind_of_label
def test_bags_copied_or_pickled_are_equal_and_immutable(make_copy, kind):
    bags = make_bags([2, 1], kind)
    copied = make_copy(bags)
    assert as_list(copied) == as_list(bags)
    assert copied.extractor == bags.extractor
    for field in (*FIELDS, "offsets"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(copied, field)[0] = getattr(copied, field)[0]


@pytest.mark.parametrize("dtype", [">f4", ">f8", ">i2", ">u4", "<f4"])
def test_bags_accept_any_byte_order(dtype):
    rows = np.array([[1, 2], [3, 4]], dtype=dtype)
    labels, names = np.array([1, 256], dtype=">i4"), np.array(["a", "b"], dtype=">U1")
    bags = Bags(rows, np.array([0, 1, 2], dtype=">i8"), labels=labels, names=names)
    assert bags.instances.dtype.isnative
    assert bags.labels.dtype.isnative
    assert bags.instances.tolist() == rows.tolist()
    assert (bags.labels.tolist(), bags.names.tolist(), bags.sizes.tolist()) == ([1, 256], ["a", "b"], [1, 1])
    assert torch.from_numpy(bags.instances.copy()).tolist() == rows.tolist()


def test_bags_share_a_memory_mapped_array(tmp_path):
    instances = np.memmap(tmp_path / "rows", dtype=np.float32, mode="w+", shape=(3, 2))
    bags = Bags(instances, np.array([0, 1, 3]))
    assert np.shares_memory(bags.instances, instances)
    instances[0] = 5.0
    assert bags.instances[0].tolist() == [5.0, 5.0]


def test_bags_return_read_only_instances_of_one_bag():
    with pytest.raises(ValueError, match="read-only"):
        make_bags([2, 1])[0][0, 0] = 5.0


def test_bags_leave_the_arrays_of_the_caller_writeable():
    instances, offsets, labels = np.zeros((3, 2)), np.array([0, 1, 3]), np.array([0, 1])
    Bags(instances, offsets, labels)
    instances[0], offsets[0], labels[0] = 1.0, 0, 1
    assert instances.flags.writeable
    assert labels.flags.writeable


KEYS = {
    "list": ([3, 0, 3], [3, 0, 3]),
    "array": (np.array([4, 2]), [4, 2]),
    "negative integers": ([-1, -5], [4, 0]),
    "slice": (slice(1, 4), [1, 2, 3]),
    "slice with a step": (slice(None, None, 2), [0, 2, 4]),
    "negative step": (slice(None, None, -1), [4, 3, 2, 1, 0]),
    "slice past the end": (slice(3, 99), [3, 4]),
    "list of booleans": ([True, False, True, False, True], [0, 2, 4]),
    "boolean mask": (np.array([False, True, True, False, False]), [1, 2]),
    "empty mask": (np.zeros(5, dtype=bool), []),
    "empty list": ([], []),
    "empty slice": (slice(2, 2), []),
    "range": (range(1, 3), [1, 2]),
}


@pytest.mark.parametrize("name", KEYS)
@pytest.mark.parametrize("form", [lambda key: key, lambda key: (key, ...), lambda key: (key, slice(None))])
@for_every_kind_of_label
def test_bags_selection_by_every_kind_of_key_equals_that_of_a_list(name, form, kind):
    bags = make_bags([2, 1, 3, 1, 2], kind)
    key, rows = KEYS[name]
    assert as_list(bags[form(key)]) == [as_list(bags)[row] for row in rows]


@laws
@given(layouts, kinds, st.data())
def test_bags_selection_by_integers_equals_that_of_a_list(sizes, kind, data):
    bags = make_bags(sizes, kind)
    rows = data.draw(st.lists(st.integers(-len(sizes), len(sizes) - 1), max_size=12))
    assert as_list(bags[rows]) == [as_list(bags)[row] for row in rows]


@laws
@given(layouts, kinds, st.data())
def test_bags_slices_equal_slices_of_a_list(sizes, kind, data):
    bags, key = make_bags(sizes, kind), data.draw(st.slices(len(sizes)))
    assert as_list(bags[key]) == as_list(bags)[key]


@laws
@given(layouts, kinds, st.data())
def test_bags_selected_twice_equal_bags_selected_once(sizes, kind, data):
    bags = make_bags(sizes, kind)
    first = data.draw(st.lists(st.integers(0, len(sizes) - 1), min_size=1, max_size=9))
    second = data.draw(st.lists(st.integers(0, len(first) - 1), max_size=9))
    assert as_list(bags[first][second]) == as_list(bags[np.array(first)[np.array(second, dtype=int)]])


@pytest.mark.parametrize("bag", [1, -2, np.int64(1), np.array(1)])
def test_bags_indexed_by_an_integer_return_the_instances_of_that_bag(bag):
    bags = make_bags([2, 3, 1])
    np.testing.assert_array_equal(bags[bag], bags.instances[2:5])


@pytest.mark.parametrize(
    "key", [3, -4, [0, 3], np.array([-4]), [True, False], ([0], 1), ([0], ..., ...), 0.5, [0.5], "a"]
)
def test_bags_selection_out_of_range_or_of_a_wrong_type_raises_index_error(key):
    with pytest.raises(IndexError):
        make_bags([2, 3, 1])[key]


@pytest.mark.parametrize("key", [[[0, 1]], np.zeros((1, 2), dtype=int), None, True])
def test_bags_selection_with_more_than_one_axis_raises_index_error(key):
    with pytest.raises(IndexError):
        make_bags([2, 3, 1])[key]


@pytest.mark.parametrize("key", [slice(1, 3), [1, 2], np.array([1, 2]), [False, True, True, False], 1, [1]])
def test_bags_selection_of_consecutive_bags_copies_nothing(key):
    bags = make_bags([2, 1, 3, 1])
    chosen = bags[key]
    assert np.shares_memory(bags.instances, chosen if isinstance(key, int) else chosen.instances)


def count_resident_bytes(file):
    """Return how many bytes of a memory-mapped file are in memory."""
    mappings = re.split(r"(?m)^(?=[0-9a-f]+-[0-9a-f]+ )", Path("/proc/self/smaps").read_text())
    return sum(1024 * int(re.search(r"Rss: +(\d+) kB", text)[1]) for text in mappings if str(file) in text)


@pytest.mark.skipif(not Path("/proc/self/smaps").exists(), reason="only Linux lists the memory of mapped files")
def test_bags_selection_reads_only_the_chosen_rows_of_a_memory_mapped_file(tmp_path):
    rows, width = 1 << 20, 64  # a sparse file of 256 MB
    instances = np.memmap(tmp_path / "instances.npy", dtype=np.float32, mode="w+", shape=(rows, width))
    instances[5000] = 7.0
    bags = Bags.trusted(instances=instances, offsets=np.arange(0, rows + 1, 1024))
    consecutive, scattered = bags[3:9], bags[[4, 900, 9]]
    assert np.shares_memory(consecutive.instances, instances)
    assert (consecutive.instances[5000 - 3 * 1024] == 7.0).all()
    assert (scattered.instances[5000 - 4 * 1024] == 7.0).all()
    assert scattered.sizes.tolist() == [1024] * 3
    assert 0 < count_resident_bytes(tmp_path / "instances.npy") < 16 << 20


@laws
@given(st.lists(layouts, min_size=1, max_size=4), kinds)
def test_concatenate_equals_the_concatenated_lists(parts, kind):
    several = [
        make_bags(sizes, kind).replace(names=[f"{number}-{bag}" for bag in range(len(sizes))])
        for number, sizes in enumerate(parts)
    ]
    assert as_list(Bags.concatenate(several)) == [bag for bags in several for bag in as_list(bags)]


@laws
@given(layouts.filter(lambda sizes: len(sizes) > 1), kinds, st.data())
def test_concatenate_restores_bags_that_were_cut_in_two(sizes, kind, data):
    bags, cut = make_bags(sizes, kind), data.draw(st.integers(1, len(sizes) - 1))
    assert as_list(Bags.concatenate([bags[:cut], bags[cut:]])) == as_list(bags)


def test_concatenate_keeps_a_field_only_if_every_part_has_it():
    first, second = make_bags([2]), Bags.from_list([[[1.0, 2.0]]], labels=["x"])
    joined = Bags.concatenate([first, second])
    assert joined.labels.tolist() == ["label 0", "x"]
    assert joined.names is joined.groups is joined.positions is joined.instance_labels is None


def test_concatenate_rejects_instances_of_different_shapes():
    with pytest.raises(InputError, match=r"differ in shape: \[\(1,\), \(2,\)\]"):
        Bags.concatenate([Bags.from_list([[[1.0]]]), Bags.from_list([[[1.0, 2.0]]])])


def test_concatenate_rejects_bags_of_the_same_name():
    with pytest.raises(InputError, match="bag 'bag 0' occurs more than once"):
        Bags.concatenate([make_bags([1]), make_bags([2])])


@pytest.mark.parametrize("parts", [[], [[[1.0]]], [make_bags([1]), None]], ids=["nothing", "a list", "None"])
def test_concatenate_rejects_an_empty_list_and_what_is_not_bags(parts):
    with unchecked(), pytest.raises(InputError, match="nothing to concatenate; pass a list of at least one Bags"):
        Bags.concatenate(parts)


@pytest.mark.parametrize("field", ["labels", "groups"])
def test_concatenate_never_mixes_numbers_and_strings(field):
    integer, string, number = (Bags.from_list([[[1.0]]], **{field: [value]}) for value in (1, "1", 1.5))
    with pytest.raises(InputError, match=f"cannot concatenate {field} of different types: int, str; convert one of"):
        Bags.concatenate([integer, string])
    assert getattr(Bags.concatenate([integer, number]), field).tolist() == [1.0, 1.5]


@laws
@given(layouts, kinds)
def test_singletons_has_one_bag_per_instance_and_keeps_instance_metadata(sizes, kind):
    bags = make_bags(sizes, kind).replace(extractor="resnet50")
    singletons = bags.singletons()
    expected = [
        {"instances": [row], "positions": [position], "instance_labels": [label]}
        for row, position, label in zip(
            bags.instances.tolist(), bags.positions.tolist(), bags.instance_labels.tolist(), strict=True
        )
    ]
    assert as_list(singletons) == expected
    assert (singletons.n_bags, singletons.extractor) == (bags.n_instances, "resnet50")
    assert (
        singletons.labels
        is singletons.names
        is singletons.groups
        is singletons.tile_sizes
        is singletons.label_names
        is None
    )


def test_singletons_copies_nothing_and_is_immutable():
    bags = make_bags([2, 1])
    for field in ("instances", "positions", "instance_labels"):
        assert np.shares_memory(getattr(bags.singletons(), field), getattr(bags, field))
    with pytest.raises(ValueError, match="read-only"):
        bags.singletons().offsets[0] = 1
    assert bags[:0].singletons().n_bags == 0
    assert Bags.from_list([[[1.0]]]).singletons().positions is None


def test_map_changes_the_instances_and_keeps_everything_else():
    bags = make_bags([2, 1])
    mapped = bags.map(lambda rows: rows[:, :1] * 2)
    np.testing.assert_array_equal(mapped.instances, bags.instances[:, :1] * 2)
    for before, after in zip(as_list(bags), as_list(mapped), strict=True):
        assert {**before, "instances": None} == {**after, "instances": None}


def test_map_rejects_a_function_that_loses_rows_or_makes_them_infinite():
    with pytest.raises(InputError, match=r"returned shape \(2, 2\) for 3 instances; it must return one row"):
        make_bags([2, 1]).map(lambda rows: rows[1:])
    with pytest.raises(InputError, match="bag 'bag 0' has 2 values that are NaN or infinite, first in its row 0"):
        make_bags([2, 1]).map(lambda rows: np.where(rows < 2, np.inf, rows))


@pytest.mark.parametrize("returned", [3.0, None, "text"])
def test_map_rejects_a_function_that_returns_no_rows(returned):
    with pytest.raises(InputError, match=r"returned shape \(\) for 3 instances; it must return one row"):
        make_bags([2, 1]).map(lambda rows: returned)


def test_replace_changes_one_field_and_checks_it():
    bags = make_bags([2, 1])
    assert bags.replace(labels=[0, 1]).labels.tolist() == [0, 1]
    assert bags.replace(labels=None).labels is None
    with pytest.raises(InputError, match=r"labels has shape \(3,\) for 2 bags"):
        bags.replace(labels=[0, 1, 1])


@for_every_kind_of_label
def test_replace_and_map_keep_labels_of_every_kind(kind):
    bags = make_bags([2, 1], kind)
    rows = bags.instances + 1
    for changed in (bags.replace(instances=rows), bags.replace(offsets=[0, 2, 3], instances=rows), bags.map(np.exp)):
        np.testing.assert_array_equal(changed.labels, bags.labels)
        assert changed.label_names == bags.label_names
    assert as_list(bags.load()) == as_list(bags)


def test_replace_keeps_label_names_only_for_as_many_labels():
    bags = make_bags([2, 1], "named columns")
    assert bags.replace(labels=[[1, 2], [3, 4]]).label_names == bags.label_names
    for labels in ([1, 2], [[1], [2]], None, LABELS["survival"](2)["labels"]):
        assert bags.replace(labels=labels).label_names is None
        assert bags.replace(labels=labels, offsets=bags.offsets).label_names is None
    assert bags.replace(label_names=["p", "q"]).label_names == ("p", "q")
    assert bags.replace(label_names=None).label_names is None
    with pytest.raises(InputError, match="there are 1 label_names for 2 columns"):
        bags.replace(label_names=["p"])


@laws
@given(layouts, kinds)
def test_from_list_inverts_iteration(sizes, kind):
    bags = make_bags(sizes, kind)
    metadata = {field: getattr(bags, field) for field in (*FIELDS[1:], "label_names")}
    assert as_list(Bags.from_list(list(bags), **metadata)) == as_list(bags)


def test_from_list_accepts_a_generator_and_images():
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
def test_from_list_names_an_empty_bag(case):
    bags, empty = EMPTY_BAGS[case]
    with pytest.raises(InputError, match=f"bag {empty} has no instances; drop empty bags"):
        Bags.from_list(bags)
    names = ["a", "b", "c"][: len(bags)]
    with pytest.raises(InputError, match=f"bag '{names[empty]}' has no instances"):
        Bags.from_list(bags, names=names)


def test_from_list_names_the_bag_with_instances_of_another_shape():
    with pytest.raises(
        InputError, match=r"bag 'b' has instances of shape \(1,\), but bag 'a' has \(2,\); every instance"
    ):
        Bags.from_list([[[1.0, 2.0]], [[1.0]]], names=["a", "b"])


def test_from_list_names_the_bag_with_rows_of_different_lengths():
    with pytest.raises(InputError, match="bag 1 has rows of different lengths"):
        Bags.from_list([[[1.0, 2.0]], [[1.0, 2.0], [3.0]]])


def test_from_list_names_the_bag_with_one_axis():
    with pytest.raises(InputError, match=r"bag 1 has shape \(2,\); expected \(n_instances, …\)"):
        Bags.from_list([[[1.0, 2.0]], [1.0, 2.0]])


def test_from_list_rejects_instances_without_features():
    with pytest.raises(InputError, match=r"instances have shape \(3, 0\), so they have no features"):
        Bags.from_list([np.zeros((2, 0)), np.zeros((1, 0))])


def test_from_list_rejects_an_empty_list():
    with pytest.raises(InputError, match="no bags in the list; pass at least one"):
        Bags.from_list([])


@pytest.mark.parametrize("bags", [[[[1.0]], np.zeros((0, 1))], [[[1.0]], [[1.0, 2.0]]], [[[1.0]], [[np.nan]]]])
def test_from_list_raises_input_error_for_too_few_names_and_another_error(bags):
    with pytest.raises(InputError):
        Bags.from_list(bags, names=["a"])


@for_every_kind_of_label
def test_train_test_split_keeps_all_metadata_aligned(kind):
    bags = make_bags([2, 1, 3, 1, 2, 4, 1, 2], kind)
    train, test, train_labels, test_labels = train_test_split(bags, bags.labels, test_size=3, random_state=5)
    np.testing.assert_array_equal(train.labels, train_labels)
    np.testing.assert_array_equal(test.labels, test_labels)
    whole = {part["names"]: part for part in as_list(bags)}
    assert all(whole[part["names"]] == part for part in as_list(train) + as_list(test))
    assert sorted([*train.names, *test.names]) == sorted(bags.names)


@pytest.mark.parametrize("shuffle", [False, True])
def test_k_folds_partition_the_bags(shuffle):
    bags = make_bags([2, 1, 3, 1, 2, 4, 1])
    tested = []
    for train_rows, test_rows in KFold(3, shuffle=shuffle, random_state=5 if shuffle else None).split(
        bags, bags.labels
    ):
        train, test = bags[train_rows], bags[test_rows]
        assert not set(train.names) & set(test.names)
        assert len(train) + len(test) == len(bags)
        tested += as_list(test)
    assert sorted(tested, key=str) == sorted(as_list(bags), key=str)


def test_cross_val_score_passes_the_bags_of_each_fold():
    bags = make_bags([2, 1, 3, 1, 2, 4])
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
