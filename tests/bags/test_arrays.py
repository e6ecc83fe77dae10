"""Conversion to arrays: native byte order, read-only, and not copied if possible."""

import numpy as np
import pytest
import torch

from bagwise.bags.arrays import as_array, as_read_only, compute_offsets
from bagwise.errors import InputError


@pytest.mark.parametrize("dtype", [">f4", ">i8", ">u2", ">U3"])
def test_as_array_converts_to_native_byte_order(dtype):
    foreign = np.array([1, 256, 3]).astype(dtype)
    array = as_array("labels", foreign)
    assert array.dtype.isnative
    assert array.tolist() == foreign.tolist()


def test_as_array_and_as_read_only_do_not_copy_native_arrays(tmp_path):
    mapped = np.memmap(tmp_path / "rows", dtype=np.float32, mode="w+", shape=(3, 2))
    for value in (np.ones((2, 2)), mapped):
        assert np.shares_memory(as_read_only(as_array("instances", value)), value)
        assert type(as_read_only(as_array("instances", value))) is np.ndarray  # selections of np.memmap are slow


def test_as_array_accepts_lists_and_tensors():
    assert as_array("labels", [1, 2]).tolist() == as_array("labels", torch.tensor([1, 2])).tolist() == [1, 2]


@pytest.mark.parametrize("value", [[[1.0], [2.0, 3.0]], torch.ones(2, requires_grad=True)], ids=["ragged", "gradients"])
def test_as_array_names_the_field_that_cannot_be_converted(value):
    with pytest.raises(InputError, match=r"^instances cannot be converted to an array \(.*; give a NumPy array"):
        as_array("instances", value)


def test_as_array_rejects_masked_arrays():
    masked = np.ma.masked_array(np.ones((2, 1)), mask=[[True], [False]])
    with pytest.raises(InputError, match="instances is a masked array; fill in the masked values or drop them"):
        as_array("instances", masked)


def test_as_read_only_leaves_the_original_writeable():
    original = np.ones(2)
    with pytest.raises(ValueError, match="read-only"):
        as_read_only(original)[0] = 2.0
    original[0] = 3.0
    assert as_read_only(original).tolist() == [3.0, 1.0]


def test_compute_offsets_begins_at_zero_and_ends_with_the_number_of_rows():
    assert compute_offsets([2, 1, 3]).tolist() == [0, 2, 3, 6]
    assert compute_offsets([]).dtype == np.int64
