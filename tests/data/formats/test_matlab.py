import contextlib
import struct
import zlib

import numpy as np
import pytest
import scipy.io
from hypothesis import given, settings
from hypothesis import strategies as st

from bagwise.data.formats import matlab
from bagwise.data.formats.matlab import pack_rows, read_matlab, read_prtools
from bagwise.errors import InputError
from real_data import HOME, needs_real_data

FEATURES = np.arange(12, dtype=np.int16).reshape(4, 3)
REAL = ["musk1", "musk2", "fox", "tiger", "elephant"]


def write_prtools(path, compressed=True, **changes):
    """Write a file like those of PRTools, except for the class of the struct."""
    ident = {"milbag": np.array([[7], [5], [7], [5]], dtype=np.uint8)} | changes.pop("ident", {})
    table = {"data": FEATURES, "nlab": np.array([[2], [1], [2], [1]]), "ident": ident} | changes
    scipy.io.savemat(path, {"x": table}, do_compression=compressed)
    return path


@pytest.mark.parametrize("compressed", [True, False])
def test_read_prtools_groups_instances_by_milbag(tmp_path, compressed):
    bags = read_prtools(write_prtools(tmp_path / "set.mat", compressed))
    np.testing.assert_array_equal(bags.instances, FEATURES[[0, 2, 1, 3]])
    assert bags.names.tolist() == ["7", "5"]
    assert bags.labels.tolist() == [1, 0]
    assert bags.instances.dtype == np.float32


def test_read_prtools_strips_the_padding_of_text_names(tmp_path):
    texts = np.array(["a  ", "bcd", "a  ", "bcd"])
    assert read_prtools(write_prtools(tmp_path / "set.mat", ident={"milbag": texts})).names.tolist() == ["a", "bcd"]


def test_read_prtools_distinguishes_large_bag_numbers(tmp_path):
    numbers = np.array([10_000_001.0, 10_000_002.0, 10_000_001.0, 10_000_002.0])
    assert read_prtools(write_prtools(tmp_path / "set.mat", ident={"milbag": numbers})).n_bags == 2


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"data": FEATURES[:3]}, r"must have one row per instance"),
        ({"nlab": np.array([1, 2, 3, 1])}, "1 \\(negative\\) or 2"),
        ({"nlab": np.array([1, 2, 2, 1])}, r"bag '7' has two labels, 0 and 1 \(instance 3\)"),
        ({"ident": {"milbag": np.array([1, 2])}}, r"ident.milbag \(2\) must have one row per instance"),
        ({"data": np.array([["a", "b"]] * 4, dtype=object)}, "data must be numbers"),
    ],
)
def test_read_prtools_rejects_other_tables_by_name(tmp_path, changes, message):
    with pytest.raises(InputError, match=rf"set\.mat.*{message}"):
        read_prtools(write_prtools(tmp_path / "set.mat", **changes))


def test_read_prtools_rejects_other_files_by_name_with_the_fix(tmp_path):
    file = tmp_path / "set.mat"
    scipy.io.savemat(file, {"y": 1})
    with pytest.raises(InputError, match=r"set\.mat has no variable 'x'"):
        read_prtools(file)
    scipy.io.savemat(file, {"x": np.eye(2)})
    with pytest.raises(InputError, match=r"set\.mat is not a PRTools data set"):
        read_prtools(file)
    scipy.io.savemat(file, {"x": {"data": FEATURES, "nlab": [1, 2, 1, 2], "ident": np.zeros((1, 1))}})
    with pytest.raises(InputError, match=r"set\.mat is not a PRTools data set"):
        read_prtools(file)
    scipy.io.savemat(file, {"x": np.eye(2)}, format="4")
    with pytest.raises(InputError, match=r"set\.mat is not a MATLAB file"):
        read_prtools(file)
    file.write_bytes(b"MATLAB 7.3 MAT-file" + bytes(500))
    with pytest.raises(InputError, match=r"set\.mat is a MATLAB 7\.3 file; save it with -v7"):
        read_prtools(file)
    file.write_bytes(b"")
    with pytest.raises(InputError, match=r"set\.mat is not a MATLAB file"):
        read_prtools(file)


@settings(max_examples=800, deadline=None, derandomize=True)
@given(
    changes=st.lists(st.tuples(st.integers(128, 2000), st.integers(0, 255)), min_size=1, max_size=6), cut=st.booleans()
)
def test_read_prtools_reads_or_rejects_damaged_files(tmp_path_factory, changes, cut):
    folder = tmp_path_factory.getbasetemp()
    whole = folder / "whole.mat"
    content = bytearray((whole if whole.exists() else write_prtools(whole, compressed=False)).read_bytes())
    for offset, value in changes:
        content[offset % len(content)] = value
    file = folder / "damaged.mat"
    file.write_bytes(bytes(content[: changes[0][0]] if cut else content))
    with contextlib.suppress(InputError):
        assert read_prtools(file).n_bags > 0


def test_pack_rows_keeps_the_order_of_rows_within_a_bag():
    bags = pack_rows(np.arange(5)[:, None], np.array([3, 1, 3, 1, 3]), np.array([0, 1, 0, 1, 0]), "table")
    assert bags.instances.ravel().tolist() == [0, 2, 4, 1, 3]


def encode_element(kind, body):
    return struct.pack("<II", kind, len(body)) + body + bytes(-len(body) % 8)


def encode_array(kind, sizes, content=b"", name=b"x"):
    flags = encode_element(6, struct.pack("<II", kind, 0))
    dimensions = encode_element(5, struct.pack(f"<{len(sizes)}i", *sizes))
    return encode_element(14, flags + dimensions + encode_element(1, name) + content)


def write_matlab(path, body):
    path.write_bytes(b"MATLAB 5.0".ljust(124) + b"\x00\x01IM" + body)
    return path


BOMBS = {
    "cells": encode_array(1, [1 << 30, 1]),
    "characters": encode_array(4, [1 << 30, 1], encode_element(16, b"")),
    "numbers": encode_array(6, [1 << 20, 1 << 20], encode_element(9, bytes(8))),
    "negative": encode_array(6, [-1, -8], encode_element(9, bytes(64))),
    "sparse": encode_array(5, [1 << 30, 1 << 30]),
    "opaque": encode_array(17, [1, 1]),
    "nested": encode_array(1, [1, 1], encode_array(1, [1 << 30, 1], name=b"")),
    "compressed twice": encode_element(15, zlib.compress(encode_element(15, zlib.compress(encode_array(1, [1, 1]))))),
    "longer than the file": struct.pack("<II", 14, 1 << 30),
}


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("bomb", BOMBS)
def test_read_matlab_rejects_a_file_that_declares_more_than_it_contains(tmp_path, bomb, compressed):
    body = BOMBS[bomb]
    if compressed:
        body = struct.pack("<II", 15, len(zlib.compress(body))) + zlib.compress(body)
    with pytest.raises(InputError, match=r"bomb\.mat is damaged"):
        read_matlab(write_matlab(tmp_path / "bomb.mat", body), "x")


def test_read_matlab_rejects_a_file_that_decompresses_beyond_the_limit(tmp_path, monkeypatch):
    monkeypatch.setattr(matlab, "MAX_BYTES", 100)
    with pytest.raises(InputError, match=r"set\.mat is damaged \(it would decompress to 376 bytes"):
        read_prtools(write_prtools(tmp_path / "set.mat"))


def test_read_matlab_ignores_an_array_of_structs_of_any_declared_size(tmp_path):
    content = encode_element(5, struct.pack("<i", 8)) + encode_element(1, b"field\0\0\0")
    file = write_matlab(tmp_path / "structs.mat", encode_array(2, [1 << 15, 1 << 15], content))
    assert read_matlab(file, "x") == {}


def test_read_matlab_rejects_deep_nesting(tmp_path):
    body = encode_array(1, [1, 1])
    for _ in range(40):
        body = encode_array(1, [1, 1], body)
    with pytest.raises(InputError, match=r"deep\.mat is damaged"):
        read_matlab(write_matlab(tmp_path / "deep.mat", body), "x")


def test_read_matlab_reads_big_endian_files(tmp_path):
    flags, sizes = struct.pack(">II", 6, 0), struct.pack(">2i", 1, 2)
    body = b"".join(
        struct.pack(">II", kind, len(part)) + part + bytes(-len(part) % 8)
        for kind, part in ((6, flags), (5, sizes), (1, b"x"), (9, struct.pack(">2d", 1.5, -2.0)))
    )
    file = tmp_path / "big.mat"
    file.write_bytes(b"MATLAB 5.0".ljust(124) + b"\x01\x00MI" + struct.pack(">II", 14, len(body)) + body)
    assert read_matlab(file, "x").tolist() == [[1.5, -2.0]]
    np.testing.assert_array_equal(scipy.io.loadmat(file)["x"], read_matlab(file, "x"))


@needs_real_data(*REAL)
@pytest.mark.parametrize("name", REAL)
def test_read_matlab_agrees_with_scipy_on_real_files(name):
    file = HOME / "mil_classic" / f"{name}.mat"
    ours, theirs = read_matlab(file, "x"), scipy.io.loadmat(file)["x"][0, 0]
    assert set(ours) == set(theirs.dtype.names)
    for field in ("data", "nlab", "prior", "targets"):
        np.testing.assert_array_equal(ours[field], theirs[field])
        assert ours[field].dtype == theirs[field].dtype or not ours[field].size
    np.testing.assert_array_equal(ours["ident"]["milbag"], theirs["ident"][0, 0]["milbag"])
    np.testing.assert_array_equal(ours["lablist"][0, 0], theirs["lablist"][0, 0])
    assert ours["name"].tolist() == theirs["name"].tolist()
