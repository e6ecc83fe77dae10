"""What people give becomes arrays that torch can read and nobody can change, without a copy where none is needed."""

import numpy as np
import pytest
import torch

from bagwise.bags.arrays import array_of, joined, locked, offsets_of, table_of
from bagwise.errors import InputError


@pytest.mark.parametrize("dtype", [">f4", ">i8", ">u2", ">U3"])
def test_a_foreign_byte_order_becomes_that_of_the_machine(dtype):
    given = np.array([1, 256, 3]).astype(dtype)
    array = array_of("labels", given)
    assert array.dtype.isnative
    assert array.tolist() == given.tolist()


def test_what_needs_no_copy_is_shared(tmp_path):
    mapped = np.memmap(tmp_path / "rows", dtype=np.float32, mode="w+", shape=(3, 2))
    for given in (np.ones((2, 2)), mapped):
        assert np.shares_memory(locked(array_of("instances", given)), given)
        assert type(locked(array_of("instances", given))) is np.ndarray  # selections of np.memmap are slow


def test_lists_and_tensors_become_arrays():
    assert array_of("labels", [1, 2]).tolist() == array_of("labels", torch.tensor([1, 2])).tolist() == [1, 2]


@pytest.mark.parametrize("value", [[[1.0], [2.0, 3.0]], torch.ones(2, requires_grad=True)], ids=["ragged", "gradients"])
def test_what_is_no_array_is_refused_by_its_field(value):
    with pytest.raises(InputError, match=r"^instances cannot be read as an array \(.*; give a NumPy array"):
        array_of("instances", value)


def test_hidden_values_are_never_shown():
    hidden = np.ma.masked_array(np.ones((2, 1)), mask=[[True], [False]])
    with pytest.raises(InputError, match="instances are masked; fill in what is hidden, or drop it"):
        array_of("instances", hidden)


def test_a_locked_view_leaves_its_owner_free():
    given = np.ones(2)
    with pytest.raises(ValueError, match="read-only"):
        locked(given)[0] = 2.0
    given[0] = 3.0
    assert locked(given).tolist() == [3.0, 1.0]


def test_rows_of_different_lengths_name_the_bag():
    with pytest.raises(InputError, match="bag 'b' has rows of different lengths"):
        table_of([[1.0], [1.0, 2.0]], "bag 'b'")


def test_words_and_numbers_are_never_joined():
    words, numbers, halves = np.array(["1"]), np.array([1]), np.array([1.5])
    for field in ("labels", "groups"):
        with pytest.raises(InputError, match=f"cannot concatenate {field} of different kinds, int, str"):
            joined(field, [numbers, words])
    assert joined("labels", [numbers, halves]).tolist() == [1.0, 1.5]
    assert joined("labels", [words, words.astype(object)]).tolist() == ["1", "1"]


def test_offsets_begin_at_zero_and_end_with_the_number_of_rows():
    assert offsets_of([2, 1, 3]).tolist() == [0, 2, 3, 6]
    assert offsets_of([]).dtype == np.int64
