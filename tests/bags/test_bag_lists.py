"""Lists of arrays, data frames and sparse matrices become the same bags as dense arrays."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from bagwise.bags import bag_lists
from bagwise.bags.bag_lists import pack_list
from bagwise.bags.bags import Bags
from bagwise.errors import InputError

ARRAYS = [np.arange(6.0).reshape(3, 2), np.array([[0.0, 7.0]])]
FRAMES = [pd.DataFrame(array, columns=["mass", "charge"]) for array in ARRAYS]


def test_pack_list_names_the_bag_with_rows_of_different_lengths():
    with pytest.raises(InputError, match="bag 'b' has rows of different lengths"):
        pack_list([[[1.0]], [[1.0], [1.0, 2.0]]], ["a", "b"])


def test_pack_list_keeps_and_aligns_the_column_names_of_data_frames():
    bags = Bags.from_list([FRAMES[0], FRAMES[1][["charge", "mass"]]], labels=[0, 1])
    assert bags.feature_names == ("mass", "charge")
    np.testing.assert_array_equal(bags.instances, np.concatenate(ARRAYS))
    assert bags.sizes.tolist() == [3, 1]


def test_pack_list_rejects_frames_with_other_columns_and_columns_that_are_not_numbers():
    with pytest.raises(InputError, match=r"bag 'b': .*other bags .missing: 'charge'; unknown: 'spin'"):
        pack_list([FRAMES[0], FRAMES[1].rename(columns={"charge": "spin"})], ["a", "b"])
    with pytest.raises(InputError, match="bag 1: column 'charge' is not numeric: row 0 has 'high'"):
        pack_list([FRAMES[0], FRAMES[1].assign(charge="high")], None)
    with pytest.raises(InputError, match="bag 0 is a data frame with named columns, but bag 1 has no column names"):
        pack_list([FRAMES[0], ARRAYS[1]], None)


def test_pack_list_takes_frames_with_numbered_columns_as_arrays():
    packed = pack_list([pd.DataFrame(array) for array in ARRAYS], None)
    assert "feature_names" not in packed
    np.testing.assert_array_equal(packed["instances"], np.concatenate(ARRAYS))


@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csr_array, sparse.coo_array, sparse.csc_matrix])
def test_pack_list_makes_sparse_matrices_dense(kind):
    bags = Bags.from_list([kind(array.astype(np.float32)) for array in ARRAYS])
    np.testing.assert_array_equal(bags.instances, np.concatenate(ARRAYS))
    assert bags.dtype == np.float32
    mixed = Bags.from_list([kind(ARRAYS[0]), ARRAYS[1]])
    np.testing.assert_array_equal(mixed.instances, np.concatenate(ARRAYS))


def test_pack_list_refuses_sparse_matrices_that_do_not_fit_into_memory(monkeypatch):
    monkeypatch.setattr(bag_lists, "get_free_memory", lambda: 1000)
    wide = [sparse.csr_array((2, 50)), sparse.csr_array((1, 50))]
    with pytest.raises(
        InputError, match=r"need 1,200 bytes of memory as dense rows of shape \(3, 50\), but only 1,000"
    ):
        pack_list(wide, None)


def test_pack_list_rejects_sparse_matrices_of_other_widths_and_without_rows():
    with pytest.raises(InputError, match="bag 1 has instances of shape"):
        pack_list([sparse.csr_array((2, 5)), sparse.csr_array((2, 4))], None)
    with pytest.raises(InputError, match="bag 'b' has no instances"):
        pack_list([sparse.csr_array((2, 5)), sparse.csr_array((0, 5))], ["a", "b"])
