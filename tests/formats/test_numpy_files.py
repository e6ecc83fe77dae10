import zipfile

import numpy as np
import pytest

from bagwise.errors import InputError
from bagwise.formats.numpy_files import read_npy, read_npz

ROWS = np.arange(12, dtype=np.float32).reshape(3, 4)


@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_come_as_they_were_written(tmp_path, order):
    np.save(tmp_path / "a.npy", np.asarray(ROWS, order=order))
    np.savez_compressed(tmp_path / "a.npz", np.asarray(ROWS, order=order))
    np.testing.assert_array_equal(read_npy(tmp_path / "a.npy"), ROWS)
    np.testing.assert_array_equal(read_npz(tmp_path / "a.npz", "arr_0"), ROWS)


class Harm:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (open, (str(self.path), "w"))


def test_a_pickle_is_refused_and_never_run(tmp_path):
    np.save(tmp_path / "a.npy", np.array([Harm(tmp_path / "harm")], dtype=object), allow_pickle=True)
    np.savez(tmp_path / "a.npz", np.array([Harm(tmp_path / "harm")], dtype=object))
    for read in (lambda: read_npy(tmp_path / "a.npy"), lambda: read_npz(tmp_path / "a.npz", "arr_0")):
        with pytest.raises(InputError, match="may need unpickling"):
            read()
    assert not (tmp_path / "harm").exists()


def test_a_bomb_is_refused_before_it_unfolds(tmp_path):
    with (
        zipfile.ZipFile(tmp_path / "a.npz", "w", zipfile.ZIP_BZIP2) as archive,
        archive.open("arr_0.npy", "w") as member,
    ):
        np.lib.format.write_array_header_1_0(member, {"descr": "|u1", "fortran_order": False, "shape": (10**8, 1)})
        for _ in range(100):
            member.write(bytes(10**6))
    assert (tmp_path / "a.npz").stat().st_size < 10_000
    with pytest.raises(InputError, match="claims 100,000,128 bytes of arr_0, but holds"):
        read_npz(tmp_path / "a.npz", "arr_0")


def test_a_header_that_claims_more_than_there_is_is_refused(tmp_path):
    with (tmp_path / "a.npy").open("wb") as stream:
        np.lib.format.write_array_header_1_0(stream, {"descr": "<f8", "fortran_order": False, "shape": (10**12, 4)})
    with pytest.raises(InputError, match="claims 32,000,000,000,000 bytes"):
        read_npy(tmp_path / "a.npy")


def test_damage_is_told_by_name(tmp_path):
    np.save(tmp_path / "a.npy", ROWS)
    np.savez(tmp_path / "a.npz", ROWS)
    with pytest.raises(InputError, match="has no array 'coords'"):
        read_npz(tmp_path / "a.npz", "coords")
    for name, read in (("a.npy", read_npy), ("a.npz", lambda path: read_npz(path, "arr_0"))):
        content = (tmp_path / name).read_bytes()
        (tmp_path / name).write_bytes(content[: len(content) - 20])
        with pytest.raises(InputError, match=rf"{name} .*(damaged|cut short)"):
            read(tmp_path / name)
        with pytest.raises(InputError, match="is not a file"):
            read(tmp_path / f"other {name}")
