"""Files .npy and .npz: read as written; pickles, decompression bombs and damage are rejected."""

import zipfile

import numpy as np
import pytest

from bagwise.errors import InputError
from bagwise.io.numpy_files import read_npy, read_npz, write_array

ROWS = np.arange(12, dtype=np.float32).reshape(3, 4)


@pytest.mark.parametrize("order", ["C", "F"])
def test_read_npy_and_read_npz_return_what_numpy_wrote(tmp_path, order):
    np.save(tmp_path / "a.npy", np.asarray(ROWS, order=order))
    np.savez_compressed(tmp_path / "a.npz", np.asarray(ROWS, order=order))
    np.testing.assert_array_equal(read_npy(tmp_path / "a.npy"), ROWS)
    np.testing.assert_array_equal(read_npz(tmp_path / "a.npz", "arr_0"), ROWS)


class CreateFileWhenUnpickled:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (open, (str(self.path), "w"))


def test_read_npy_and_read_npz_reject_a_pickle_without_running_it(tmp_path):
    np.save(
        tmp_path / "a.npy", np.array([CreateFileWhenUnpickled(tmp_path / "created")], dtype=object), allow_pickle=True
    )
    np.savez(tmp_path / "a.npz", np.array([CreateFileWhenUnpickled(tmp_path / "created")], dtype=object))
    for read in (lambda: read_npy(tmp_path / "a.npy"), lambda: read_npz(tmp_path / "a.npz", "arr_0")):
        with pytest.raises(InputError, match="may need unpickling"):
            read()
    assert not (tmp_path / "created").exists()


def test_read_npz_rejects_a_decompression_bomb(tmp_path):
    with (
        zipfile.ZipFile(tmp_path / "a.npz", "w", zipfile.ZIP_BZIP2) as archive,
        archive.open("arr_0.npy", "w") as member,
    ):
        np.lib.format.write_array_header_1_0(member, {"descr": "|u1", "fortran_order": False, "shape": (10**8, 1)})
        for _ in range(100):
            member.write(bytes(10**6))
    assert (tmp_path / "a.npz").stat().st_size < 10_000
    with pytest.raises(InputError, match="declares 100,000,128 bytes of arr_0, but contains"):
        read_npz(tmp_path / "a.npz", "arr_0")


def test_read_npy_rejects_a_header_that_declares_more_than_the_file_contains(tmp_path):
    with (tmp_path / "a.npy").open("wb") as stream:
        np.lib.format.write_array_header_1_0(stream, {"descr": "<f8", "fortran_order": False, "shape": (10**12, 4)})
    with pytest.raises(InputError, match=r"a\.npy declares 32,000,000,000,000 bytes"):
        read_npy(tmp_path / "a.npy")


def test_read_npy_and_read_npz_name_a_damaged_or_missing_file(tmp_path):
    np.save(tmp_path / "a.npy", ROWS)
    np.savez(tmp_path / "a.npz", ROWS)
    with pytest.raises(InputError, match=r"a\.npz has no array 'coords'"):
        read_npz(tmp_path / "a.npz", "coords")
    for name, read in (("a.npy", read_npy), ("a.npz", lambda path: read_npz(path, "arr_0"))):
        content = (tmp_path / name).read_bytes()
        (tmp_path / name).write_bytes(content[: len(content) - 20])
        with pytest.raises(InputError, match=rf"{name} .*(damaged|truncated)"):
            read(tmp_path / name)
        with pytest.raises(InputError, match=f"no such file: .*other {name}"):
            read(tmp_path / f"other {name}")


@pytest.mark.parametrize(
    "array", [np.arange(6).reshape(2, 3), np.zeros(0), np.arange(8.0).reshape(2, 4).T, np.array(3.5), np.eye(3) > 0]
)
def test_write_array_writes_what_numpy_reads(tmp_path, array):
    write_array(tmp_path / "a.npy", array)
    loaded = np.load(tmp_path / "a.npy", allow_pickle=False)
    np.testing.assert_array_equal(loaded, array)
    assert (loaded.dtype, loaded.shape) == (array.dtype, array.shape)
