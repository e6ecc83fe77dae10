"""Mapped files are identified, and another file at the same path is refused."""

import os

import numpy as np
import pytest

from bagwise.errors import InputError
from bagwise.io.mapped_files import map_again, map_npy


@pytest.fixture
def path(tmp_path):
    np.save(tmp_path / "rows.npy", np.arange(6.0).reshape(3, 2))
    return tmp_path / "rows.npy"


@pytest.mark.parametrize("order", ["C", "F"])
def test_map_npy_gives_the_array_read_only(path, order):
    rows = np.asarray(np.arange(6.0).reshape(3, 2), order=order)
    np.save(path, rows)
    mapped = map_npy(path)
    np.testing.assert_array_equal(mapped.values, rows)
    assert type(mapped.values) is np.ndarray
    with pytest.raises(ValueError, match="read-only"):
        mapped.values[0] = 1.0


def test_map_npy_maps_an_open_file_whatever_is_at_its_path(path):
    with path.open("rb") as stream:
        path.unlink()
        np.save(path, np.zeros((3, 2)))
        mapped = map_npy(path, stream)
    np.testing.assert_array_equal(mapped.values, np.arange(6.0).reshape(3, 2))


def test_map_npy_refuses_python_objects_and_truncated_files(path):
    path.write_bytes(path.read_bytes()[:-8])
    with pytest.raises(InputError, match=r"rows.npy is damaged, truncated or not a NumPy file"):
        map_npy(path)
    np.save(path, np.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(InputError, match="it contains Python objects"):
        map_npy(path)


def test_map_again_maps_the_same_file(path):
    np.testing.assert_array_equal(map_again(map_npy(path).file), np.load(path))


def replace(path):
    np.save(path.with_name("new.npy"), np.load(path))
    path.with_name("new.npy").replace(path)


def rewrite(path):
    np.save(path, np.zeros((3, 2)))
    os.utime(path, ns=(0, 0))


def extend(path):
    with path.open("ab") as stream:
        stream.write(b"more")


@pytest.mark.parametrize("change", [replace, rewrite, extend])
def test_map_again_refuses_another_file(path, change):
    mapped = map_npy(path)
    change(path)
    with pytest.raises(InputError, match=r"rows.npy was replaced or changed since the bags were loaded; load them ag"):
        map_again(mapped.file)


def test_map_again_refuses_a_missing_file(path):
    mapped = map_npy(path)
    path.unlink()
    with pytest.raises(InputError, match=r"rows.npy is missing: it was removed since the bags were loaded, or"):
        map_again(mapped.file)
