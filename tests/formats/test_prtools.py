import contextlib

import numpy as np
import pytest
import scipy.io
from hypothesis import given, settings
from hypothesis import strategies as st

from bagwise.errors import InputError
from bagwise.formats import matlab
from bagwise.formats.prtools import pack_rows, read_prtools

FEATURES = np.arange(12, dtype=np.int16).reshape(4, 3)


def write(path, compressed=True, **changes):
    """A file as PRTools writes them, but for the class of its struct."""
    ident = {"milbag": np.array([[7], [5], [7], [5]], dtype=np.uint8)} | changes.pop("ident", {})
    table = {"data": FEATURES, "nlab": np.array([[2], [1], [2], [1]]), "ident": ident} | changes
    scipy.io.savemat(path, {"x": table}, do_compression=compressed)
    return path


@pytest.mark.parametrize("compressed", [True, False])
def test_bags_are_put_together_by_their_ident(tmp_path, compressed):
    bags = read_prtools(write(tmp_path / "set.mat", compressed))
    np.testing.assert_array_equal(bags.instances, FEATURES[[0, 2, 1, 3]])
    assert bags.names.tolist() == ["7", "5"]
    assert bags.labels.tolist() == [1, 0]
    assert bags.instances.dtype == np.float32


def test_names_of_bags_may_be_texts_and_lose_their_padding(tmp_path):
    texts = np.array(["a  ", "bcd", "a  ", "bcd"])
    assert read_prtools(write(tmp_path / "set.mat", ident={"milbag": texts})).names.tolist() == ["a", "bcd"]


def test_large_numbers_of_bags_stay_apart(tmp_path):
    numbers = np.array([10_000_001.0, 10_000_002.0, 10_000_001.0, 10_000_002.0])
    assert read_prtools(write(tmp_path / "set.mat", ident={"milbag": numbers})).n_bags == 2


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"data": FEATURES[:3]}, "differ in length"),
        ({"nlab": np.array([1, 2, 3, 1])}, "1 \\(negative\\) or 2"),
        ({"nlab": np.array([1, 2, 2, 1])}, "bag '7' has two labels"),
        ({"ident": {"milbag": np.array([1, 2])}}, "differ in length"),
        ({"ident": np.zeros((1, 1))}, "not a PRTools data set"),
        ({"data": np.array([["a", "b"]] * 4, dtype=object)}, "must be numbers"),
    ],
)
def test_other_tables_are_refused_by_name(tmp_path, changes, message):
    with pytest.raises(InputError, match=rf"set\.mat.*{message}"):
        read_prtools(_changed(tmp_path / "set.mat", changes))


def _changed(path, changes):
    if isinstance(changes.get("ident"), np.ndarray):
        scipy.io.savemat(path, {"x": {"data": FEATURES, "nlab": [1, 2, 1, 2], "ident": changes["ident"]}})
        return path
    return write(path, **changes)


def test_other_files_are_refused_by_name_with_the_fix(tmp_path):
    file = tmp_path / "set.mat"
    scipy.io.savemat(file, {"y": 1})
    with pytest.raises(InputError, match=r"set\.mat has no variable 'x'"):
        read_prtools(file)
    scipy.io.savemat(file, {"x": np.eye(2)})
    with pytest.raises(InputError, match="not a PRTools data set"):
        read_prtools(file)
    scipy.io.savemat(file, {"x": np.eye(2)}, format="4")
    with pytest.raises(InputError, match="not a MATLAB file"):
        read_prtools(file)
    file.write_bytes(b"MATLAB 7.3 MAT-file" + bytes(500))
    with pytest.raises(InputError, match="save it with -v7"):
        read_prtools(file)
    file.write_bytes(b"")
    with pytest.raises(InputError, match="not a MATLAB file"):
        read_prtools(file)


def test_what_unpacks_without_end_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(matlab, "LIMIT", 100)  # bytes
    with pytest.raises(InputError, match="would unpack to 376 bytes, more than can be true"):
        read_prtools(write(tmp_path / "set.mat"))


@settings(max_examples=800, deadline=None, derandomize=True)
@given(
    changes=st.lists(st.tuples(st.integers(128, 2000), st.integers(0, 255)), min_size=1, max_size=6), cut=st.booleans()
)
def test_a_damaged_file_gives_bags_or_a_refusal_never_a_crash(tmp_path_factory, changes, cut):
    folder = tmp_path_factory.getbasetemp()
    content = bytearray(write(folder / "whole.mat", compressed=False).read_bytes())
    for place, value in changes:
        content[place % len(content)] = value
    file = folder / "damaged.mat"
    file.write_bytes(bytes(content[: changes[0][0]] if cut else content))
    with contextlib.suppress(InputError):
        assert read_prtools(file).n_bags > 0


def test_rows_of_a_bag_keep_their_order():
    bags = pack_rows(np.arange(5)[:, None], np.array([3, 1, 3, 1, 3]), np.array([0, 1, 0, 1, 0]), "table")
    assert bags.instances.ravel().tolist() == [0, 2, 4, 1, 3]
