import h5py
import numpy as np
import pytest

from bagwise.errors import InputError
from bagwise.formats.h5 import open_h5


def rows(path, name="features"):
    with open_h5(path) as file:
        return file.rows(name)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "slide.h5"


def test_rows_and_attributes_come_as_they_were_written(path):
    written = np.arange(12, dtype=np.float16).reshape(3, 4)
    with h5py.File(path, "w") as file:
        file.create_dataset("features", data=written, chunks=(1, 4), compression="gzip").attrs["encoder"] = "uni"
        file["features"].attrs["pair"] = (1.5, 2.5)
        file["empty"], file["nothing"] = np.empty((0, 4)), np.empty(0)
        file.attrs["unit"] = np.bytes_("um")
    np.testing.assert_array_equal(rows(path), written)
    assert rows(path).dtype == np.float16
    assert rows(path, "empty").shape == (0, 4)
    assert len(rows(path, "nothing")) == 0
    with open_h5(path) as file:
        assert file.attributes("features", "encoder", "pair", "absent") == {"encoder": "uni", "pair": [1.5, 2.5]}
        assert file.attributes("", "unit") == {"unit": "um"}
        assert "features" in file
        assert "other" not in file


def test_a_cut_file_is_refused_by_name(path):
    with h5py.File(path, "w") as file:
        file["features"] = np.ones((1000, 8))
    whole = path.read_bytes()
    for length in (0, 10, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:length])
        with pytest.raises(InputError, match=r"slide\.h5 is damaged, cut short or no h5 file"):
            rows(path)
    path.write_text("not h5 at all")
    with pytest.raises(InputError, match="no h5 file"):
        rows(path)


def test_links_out_of_the_file_are_refused(path, tmp_path):
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["features"] = np.ones((2, 2))
    with h5py.File(path, "w") as file:
        file["features"] = h5py.ExternalLink("other.h5", "features")
        file["coords"] = h5py.SoftLink("/features")
    for name in ("features", "coords"):
        with pytest.raises(InputError, match=f"'{name}' is a link to another place"):
            rows(path, name)


def test_rows_in_other_files_are_refused(path, tmp_path):
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
        with pytest.raises(InputError, match=f"the rows of '{name}' lie in other files"):
            rows(path, name)


def test_a_small_file_that_claims_terabytes_is_refused(path):
    with h5py.File(path, "w") as file:
        file.create_dataset("features", shape=(10**9, 1024), dtype=np.float32, chunks=(1024, 1024))
    assert path.stat().st_size < 10_000
    with pytest.raises(InputError, match="claims 1000000000 rows of 'features', but holds none"):
        rows(path)
    with h5py.File(path, "w") as file:
        file.create_dataset("features", shape=(10**9, 1024), dtype=np.float32, chunks=(16, 1024))[0] = 1
    with pytest.raises(InputError, match="claims 4,096,000,000,000 bytes of features, but holds"):
        rows(path)


def test_only_rows_of_numbers_are_read(path):
    with h5py.File(path, "w") as file:
        file["words"], file["cube"], file["complex"] = [["a"]], np.ones((2, 2, 2)), np.ones((2, 2), dtype=complex)
        file.create_group("group")
    for name in ("words", "cube", "complex"):
        with pytest.raises(InputError, match="expected rows of numbers"):
            rows(path, name)
    with pytest.raises(InputError, match="'group' is not a data set"):
        rows(path, "group")
    with pytest.raises(InputError, match="no data set 'features'; it has complex, cube, group, words"):
        rows(path)
