"""Damaged files of data sets: refused by their hashes before they are read, and by their readers all the same."""

import gzip
import lzma

import numpy as np
import pytest
import scipy.io
from PIL import Image

from bagwise.datasets import colon, mnist_bags, wrappers
from bagwise.datasets.images import read_image
from formats.damage import check

PICTURE = np.random.default_rng(0).integers(0, 255, (12, 16, 3), dtype=np.uint8)


def of_image(suffix, **how):
    def prepare(folder):
        Image.fromarray(PICTURE).save(folder / f"file7{suffix}", **how)
        return folder / f"file7{suffix}", lambda: read_image(folder / f"file7{suffix}", 16, 12)

    return prepare


def of_idx(folder):
    (folder / "file7").write_bytes(gzip.compress(bytes([0, 0, 8, 1, 0, 0, 0, 2, 5, 7])))
    return folder / "file7", lambda: mnist_bags._read_idx(folder / "file7", 1)


def of_xz(folder):
    (folder / "file7").write_bytes(lzma.compress(b"1 2 3\n" * 50))
    return folder / "file7", lambda: wrappers.content(folder / "file7")


def of_marks(folder):
    scipy.io.savemat(folder / "file7.mat", {"detection": np.array([[5.0, 7.5], [400.2, 30.0]])}, do_compression=True)
    return folder / "file7.mat", lambda: colon._marks(folder / "file7.mat")


READERS = {
    "webp": of_image(".webp", lossless=True),
    "bmp": of_image(".bmp"),
    "tif": of_image(".tif", compression="packbits"),
    "idx": of_idx,
    "xz": of_xz,
    "marks": of_marks,
}


@pytest.mark.parametrize("reader", READERS)
def test_damaged_input_is_read_or_refused(tmp_path, reader):
    check(*READERS[reader](tmp_path), max_examples=250, derandomize=True)


@pytest.mark.full
@pytest.mark.parametrize("reader", READERS)
def test_damage_never_seen_before_is_read_or_refused(tmp_path, reader):
    check(*READERS[reader](tmp_path), max_examples=2000)
