"""Damaged files of data sets: loaders reject them by their hashes, and readers also reject them without the hashes."""

import gzip
import lzma

import numpy as np
import pytest
import scipy.io
from PIL import Image

from bagwise.data.datasets.colon import _read_marks, read_image_of_size
from bagwise.data.datasets.dataset_files import read_content
from bagwise.data.datasets.mnist_bags import _read_idx
from data.formats.damage import check

PICTURE = np.random.default_rng(0).integers(0, 255, (12, 16, 3), dtype=np.uint8)


def make_image_case(suffix, **options):
    def prepare(folder):
        path = folder / f"file7{suffix}"
        Image.fromarray(PICTURE).save(path, **options)
        return path, lambda: read_image_of_size(path, 16, 12)

    return prepare


def prepare_idx(folder):
    path = folder / "file7"
    path.write_bytes(gzip.compress(bytes([0, 0, 8, 1, 0, 0, 0, 2, 5, 7])))
    return path, lambda: _read_idx(path, 1)


def prepare_xz(folder):
    path = folder / "file7"
    path.write_bytes(lzma.compress(b"1 2 3\n" * 50))
    return path, lambda: read_content(path)


def prepare_marks(folder):
    path = folder / "file7.mat"
    scipy.io.savemat(path, {"detection": np.array([[5.0, 7.5], [400.2, 30.0]])}, do_compression=True)
    return path, lambda: _read_marks(path)


READERS = {
    "webp": make_image_case(".webp", lossless=True),
    "bmp": make_image_case(".bmp"),
    "tif": make_image_case(".tif", compression="packbits"),
    "idx": prepare_idx,
    "xz": prepare_xz,
    "marks": prepare_marks,
}


@pytest.mark.parametrize("reader", READERS)
def test_readers_read_or_reject_damaged_files(tmp_path, reader):
    check(*READERS[reader](tmp_path), max_examples=100, derandomize=True)


@pytest.mark.full
@pytest.mark.parametrize("reader", READERS)
def test_readers_read_or_reject_files_with_random_damage(tmp_path, reader):
    check(*READERS[reader](tmp_path), max_examples=2000)
