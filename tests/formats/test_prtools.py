import contextlib
import struct
import zlib

import numpy as np
import pytest
import scipy.io
from hypothesis import given, settings
from hypothesis import strategies as st

from bagwise.errors import InputError
from bagwise.formats import prtools
from bagwise.formats.prtools import pack_rows, read_matlab, read_prtools
from real_data import HOME, needs_real_data

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


def element(kind, body):
    return struct.pack("<II", kind, len(body)) + body + bytes(-len(body) % 8)


def array(kind, sizes, content=b"", name=b"x"):
    flags = element(6, struct.pack("<II", kind, 0))
    return element(14, flags + element(5, struct.pack(f"<{len(sizes)}i", *sizes)) + element(1, name) + content)


BOMBS = {
    "cells": array(1, [1 << 30, 1]),
    "characters": array(4, [1 << 30, 1], element(16, b"")),
    "numbers": array(6, [1 << 20, 1 << 20], element(9, bytes(8))),
    "negative": array(6, [-1, -8], element(9, bytes(64))),
    "sparse": array(5, [1 << 30, 1 << 30]),
    "opaque": array(17, [1, 1]),
    "nested": array(1, [1, 1], array(1, [1 << 30, 1], name=b"")),
    "packed twice": element(15, zlib.compress(element(15, zlib.compress(array(1, [1, 1]))))),
    "longer than the file": struct.pack("<II", 14, 1 << 30),
}


@pytest.mark.parametrize("bomb", BOMBS)
@pytest.mark.parametrize("packed", [False, True])
def test_a_file_that_declares_more_than_it_holds_is_refused_before_memory_is_set_aside(tmp_path, bomb, packed):
    body = BOMBS[bomb]
    if packed:
        body = struct.pack("<II", 15, len(zlib.compress(body))) + zlib.compress(body)
    file = tmp_path / "bomb.mat"
    file.write_bytes(b"MATLAB 5.0".ljust(124) + b"\x00\x01IM" + body)
    with pytest.raises(InputError, match=r"bomb\.mat is damaged"):
        read_matlab(file, "x")


def test_what_unpacks_without_end_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(prtools, "LIMIT", 100)  # bytes
    with pytest.raises(InputError, match="unpacks to more than"):
        read_prtools(write(tmp_path / "set.mat"))


def test_an_array_of_structs_is_passed_over_however_large_it_claims_to_be(tmp_path):
    file = tmp_path / "structs.mat"
    body = array(2, [1 << 15, 1 << 15], element(5, struct.pack("<i", 8)) + element(1, b"field\0\0\0"))
    file.write_bytes(b"MATLAB 5.0".ljust(124) + b"\x00\x01IM" + body)
    assert read_matlab(file, "x") == {}


def test_deep_nesting_is_refused(tmp_path):
    body = array(1, [1, 1])
    for _ in range(40):
        body = array(1, [1, 1], body)
    file = tmp_path / "deep.mat"
    file.write_bytes(b"MATLAB 5.0".ljust(124) + b"\x00\x01IM" + body)
    with pytest.raises(InputError, match=r"deep\.mat is damaged"):
        read_matlab(file, "x")


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


REAL = ["musk1", "musk2", "fox", "tiger", "elephant"]


@needs_real_data(*REAL)
@pytest.mark.parametrize("name", REAL)
def test_real_files_are_read_as_scipy_reads_them(name):
    file = HOME / "mil_classic" / f"{name}.mat"
    ours, theirs = read_matlab(file, "x"), scipy.io.loadmat(file)["x"][0, 0]
    assert set(ours) == set(theirs.dtype.names)
    for field in ("data", "nlab", "prior", "targets"):
        np.testing.assert_array_equal(ours[field], theirs[field])
        assert ours[field].dtype == theirs[field].dtype or not ours[field].size
    np.testing.assert_array_equal(ours["ident"]["milbag"], theirs["ident"][0, 0]["milbag"])
    np.testing.assert_array_equal(ours["lablist"][0, 0], theirs["lablist"][0, 0])
    assert ours["name"].tolist() == theirs["name"].tolist()


def test_big_endian_files_are_read_too(tmp_path):
    flags, sizes = struct.pack(">II", 6, 0), struct.pack(">2i", 1, 2)
    body = b"".join(
        struct.pack(">II", kind, len(part)) + part + bytes(-len(part) % 8)
        for kind, part in ((6, flags), (5, sizes), (1, b"x"), (9, struct.pack(">2d", 1.5, -2.0)))
    )
    file = tmp_path / "big.mat"
    file.write_bytes(b"MATLAB 5.0".ljust(124) + b"\x01\x00MI" + struct.pack(">II", 14, len(body)) + body)
    assert read_matlab(file, "x").tolist() == [[1.5, -2.0]]
    np.testing.assert_array_equal(scipy.io.loadmat(file)["x"], read_matlab(file, "x"))


def test_rows_of_a_bag_keep_their_order():
    bags = pack_rows(np.arange(5)[:, None], np.array([3, 1, 3, 1, 3]), np.array([0, 1, 0, 1, 0]), "table")
    assert bags.instances.ravel().tolist() == [0, 2, 4, 1, 3]
