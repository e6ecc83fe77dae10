import struct
import zlib

import numpy as np
import pytest
import scipy.io

from bagwise.errors import InputError
from bagwise.formats.matlab import read_matlab
from real_data import HOME, needs_real_data


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
