import struct

import h5py
import numpy as np
import pytest

from bagwise.data.formats.h5 import HEAP_SIGNATURE, check_heaps, open_h5
from bagwise.errors import InputError


@pytest.fixture
def path(tmp_path):
    return tmp_path / "slide.h5"


def read_rows(path, name="features"):
    with open_h5(path) as file:
        return file.rows(name)


def test_open_h5_returns_rows_and_attributes_as_written(path):
    written = np.arange(12, dtype=np.float16).reshape(3, 4)
    with h5py.File(path, "w") as file:
        file.create_dataset("features", data=written, chunks=(1, 4), compression="gzip").attrs["encoder"] = "uni"
        file["features"].attrs["pair"] = (1.5, 2.5)
        file["empty"], file["nothing"] = np.empty((0, 4)), np.empty(0)
        file.attrs["unit"] = np.bytes_("um")
    np.testing.assert_array_equal(read_rows(path), written)
    assert read_rows(path).dtype == np.float16
    assert read_rows(path, "empty").shape == (0, 4)
    assert len(read_rows(path, "nothing")) == 0
    with open_h5(path) as file:
        assert file.attributes("features", "encoder", "pair", "absent") == {"encoder": "uni", "pair": [1.5, 2.5]}
        assert file.attributes("", "unit") == {"unit": "um"}
        assert "features" in file
        assert "other" not in file


def test_open_h5_rejects_a_truncated_file_by_name(path):
    with h5py.File(path, "w") as file:
        file["features"] = np.ones((1000, 8))
    whole = path.read_bytes()
    for length in (0, 10, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:length])
        with pytest.raises(InputError, match=r"slide\.h5 is damaged, truncated or not an h5 file"):
            read_rows(path)
    path.write_text("not h5 at all")
    with pytest.raises(InputError, match=r"slide\.h5 is damaged, truncated or not an h5 file"):
        read_rows(path)


def test_rows_rejects_links(path, tmp_path):
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["features"] = np.ones((2, 2))
    with h5py.File(path, "w") as file:
        file["features"] = h5py.ExternalLink("other.h5", "features")
        file["coords"] = h5py.SoftLink("/features")
    for name in ("features", "coords"):
        with pytest.raises(InputError, match=f"'{name}' is a link to another location"):
            read_rows(path, name)


def test_rows_rejects_data_sets_stored_in_other_files(path, tmp_path):
    secret = tmp_path / "secret"
    secret.write_bytes(b"0123456789abcdef")
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["features"] = np.ones((2, 2))
    layout = h5py.VirtualLayout((2, 2), dtype=float)
    layout[:] = h5py.VirtualSource(tmp_path / "other.h5", "features", shape=(2, 2))
    with h5py.File(path, "w") as file:
        file.create_virtual_dataset("virtual", layout)
        file.create_dataset("features", shape=(2, 2), dtype=np.float32, external=[(str(secret), 0, 16)])
    for name in ("virtual", "features"):
        with pytest.raises(InputError, match=f"the rows of '{name}' are stored in other files"):
            read_rows(path, name)


def test_rows_rejects_a_small_file_that_declares_terabytes(path):
    with h5py.File(path, "w") as file:
        file.create_dataset("features", shape=(10**9, 1024), dtype=np.float32, chunks=(1024, 1024))
    assert path.stat().st_size < 10_000
    with pytest.raises(InputError, match="declares 1000000000 rows of 'features', but contains none"):
        read_rows(path)
    with h5py.File(path, "w") as file:
        file.create_dataset("features", shape=(10**9, 1024), dtype=np.float32, chunks=(16, 1024))[0] = 1
    with pytest.raises(InputError, match="4,096,000,000,000 bytes of features"):
        read_rows(path)


def test_rows_rejects_anything_but_rows_of_numbers(path):
    with h5py.File(path, "w") as file:
        file["words"], file["cube"], file["complex"] = [["a"]], np.ones((2, 2, 2)), np.ones((2, 2), dtype=complex)
        file.create_group("group")
    for name in ("words", "cube", "complex"):
        with pytest.raises(InputError, match=f"'{name}' must have rows of numbers, got"):
            read_rows(path, name)
    with pytest.raises(InputError, match="'group' is not a data set"):
        read_rows(path, "group")
    with pytest.raises(InputError, match=r"no data set 'features' \(it contains complex, cube, group, words\)"):
        read_rows(path)


@pytest.fixture
def path_with_heap(path):
    with h5py.File(path, "w") as file:
        file.attrs.update({f"name {number}": "word" * number for number in range(6)})
    return path


def test_check_heaps_accepts_a_file_of_h5py(path_with_heap):
    check_heaps(path_with_heap)


@pytest.mark.parametrize("size", [120, 1 << 40])
def test_check_heaps_rejects_a_heap_that_libhdf5_would_loop_over(path_with_heap, size):
    content = bytearray(path_with_heap.read_bytes())
    struct.pack_into("<Q", content, content.find(HEAP_SIGNATURE) + 16 + 8, size)
    path_with_heap.write_bytes(content)
    with pytest.raises(InputError, match=r"slide\.h5 is damaged: the string heap at byte \d+ has no end"):
        check_heaps(path_with_heap)


def test_check_heaps_rejects_lengths_of_another_width(path_with_heap):
    content = bytearray(path_with_heap.read_bytes())
    content[14] = 4
    path_with_heap.write_bytes(content)
    with pytest.raises(InputError, match=r"slide\.h5 is damaged or an unsupported variant of h5"):
        check_heaps(path_with_heap)
