"""The table of a bag folder is read as it was written, with the type of every column."""

import io

import numpy as np
import pytest

from bagwise.bags.bag_table import read_bag_table, write_bag_table
from bagwise.errors import InputError

COLUMNS = [
    ("label", [True, False], np.bool_),
    ("label", [1, -2], np.int64),
    ("label", np.array([0.1, 1e-300]), np.float64),
    ("label", ["1", 'two, "quoted"\nlines'], np.str_),
    ("tile_size", [256, 512], np.int64),
]


@pytest.mark.parametrize(("column", "values", "dtype"), COLUMNS)
def test_read_bag_table_inverts_write_bag_table(tmp_path, column, values, dtype):
    kinds = write_bag_table(tmp_path / "bags.csv", {"name": ["a", "ü"], column: list(values)})
    fields = read_bag_table(io.BytesIO((tmp_path / "bags.csv").read_bytes()), kinds)
    assert list(fields) == ["names", f"{column}s"]
    assert fields["names"].tolist() == ["a", "ü"]
    assert fields[f"{column}s"].tolist() == list(values)
    assert np.issubdtype(fields[f"{column}s"].dtype, dtype)


def test_write_bag_table_rejects_repeated_names(tmp_path):
    with pytest.raises(InputError, match="bag 'a' occurs more than once; names must be unique"):
        write_bag_table(tmp_path / "bags.csv", {"name": ["a", "b", "a"]})
    assert not (tmp_path / "bags.csv").exists()
