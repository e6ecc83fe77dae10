"""Decompression bombs (zip, png, h5, npz and others) are rejected by their declared size before memory is allocated.

Each bomb is a small file that declares gigabytes. One process opens all of them (``bomb_reader.py``), with a limit on
the memory that it may allocate for each file, which the operating system enforces.
"""

import gzip
import json
import os
import struct
import subprocess
import sys
import zipfile
import zlib
from pathlib import Path

import h5py
import numpy as np
import pyarrow
import pytest
import torch
from pyarrow import csv, parquet

from bagwise.bags.folder import save_bags
from bagwise.data.datasets.registry import load_dataset
from bagwise.data.formats.tables import read_table
from bagwise.estimators.bag_classifier import BagClassifier
from bagwise.io.json_files import read_json, write_json
from data.formats.foreign import write_table
from faults.memory_limit import ONE_ARENA, needs_linux
from resealing import reseal

BOUND = 100 << 20  # bytes that opening a bomb may allocate, including allocations at the first use of a package
GIGABYTE = 1 << 30
NEEDLES = load_dataset("needles", n_bags=12)


def write_compressed_npz(path, method):
    """Write a gigabyte of zeros."""
    with zipfile.ZipFile(path, "w", method) as archive, archive.open("arr_0.npy", "w", force_zip64=True) as member:
        np.lib.format.write_array_header_1_0(member, {"descr": "|u1", "fortran_order": False, "shape": (GIGABYTE, 1)})
        for _ in range(GIGABYTE >> 24):
            member.write(bytes(1 << 24))
    return path


def write_declared_npy(path):
    with path.open("wb") as stream:
        np.lib.format.write_array_header_1_0(stream, {"descr": "<f8", "fortran_order": False, "shape": (10**9, 4)})
        stream.write(bytes(64))
    return path


def write_declared_npz(path):
    write_declared_npy(path.with_suffix(".inner"))
    with zipfile.ZipFile(path, "w") as archive:
        archive.write(path.with_suffix(".inner"), "arr_0.npy")
    return path


def write_expanded_pt(path):
    torch.save(torch.zeros(1).expand(10**5, 10**5), path)
    return path


def write_compressed_pt(path):
    """Write a gigabyte of zeros in a compressed file; torch itself does not compress files."""
    torch.save(torch.zeros(GIGABYTE >> 2).expand(1, -1)[:, :8], path.with_suffix(".whole"))
    with (
        zipfile.ZipFile(path.with_suffix(".whole")) as whole,
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as small,
    ):
        for entry in whole.infolist():
            with whole.open(entry) as source, small.open(entry.filename, "w", force_zip64=True) as target:
                while piece := source.read(1 << 24):
                    target.write(piece)
    path.with_suffix(".whole").unlink()
    return path


def write_legacy_pt(path):
    """Write the old format, in which a file declares the number of values that follow."""
    torch.save(torch.zeros(1000, 4), path, _use_new_zipfile_serialization=False)
    content = path.read_bytes()
    assert (4000).to_bytes(8, "little") in content
    path.write_bytes(content.replace(b"M\xa0\x0f", b"J\x00\x00\x00\x40").replace(
        (4000).to_bytes(8, "little"), (1 << 30).to_bytes(8, "little")))  # fmt: skip
    return path


def write_compressed_mat(path, length):
    """Write a gigabyte of zeros in a file that declares this length."""
    compressor = zlib.compressobj(9)
    compressed = compressor.compress(struct.pack("<II", 14, length))
    for _ in range(GIGABYTE >> 24):
        compressed += compressor.compress(bytes(1 << 24))
    compressed += compressor.flush()
    path.write_bytes(b"MATLAB 5.0".ljust(124) + b"\x00\x01IM" + struct.pack("<II", 15, len(compressed)) + compressed)
    return path


def write_compressed_gz(path):
    with gzip.open(path, "wb") as stream:
        for _ in range(GIGABYTE >> 24):
            stream.write(bytes(1 << 24))
    return path


def write_wide_svm(path):
    path.write_text("".join(f"{row}:b{row}:1 65000:1\n" for row in range(20_000)))
    return path


def write_long_parquet(path):
    codes = pyarrow.array(np.zeros(20_000_000, np.int8))
    columns = {name: pyarrow.DictionaryArray.from_arrays(codes, pyarrow.array([1.5])) for name in ("f1", "f2", "f3")}
    names = pyarrow.DictionaryArray.from_arrays(codes, pyarrow.array(["a"]))
    parquet.write_table(pyarrow.table({"bag": names, **columns}), path)
    return path


def write_png(path, side):
    """Write a square image that declares this side and contains fewer rows."""

    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    header = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    rows = zlib.compress(bytes(1 << 24), 9)
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b""))
    return path


def write_png_text(path):
    """Write a small image with a gigabyte of text in its metadata."""

    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    compressor = zlib.compressobj(9)
    text = b"".join(compressor.compress(b"a" * (1 << 24)) for _ in range(GIGABYTE >> 24)) + compressor.flush()
    header, rows = struct.pack(">IIBBBBB", 8, 8, 8, 2, 0, 0, 0), zlib.compress(bytes(8 * 25))
    parts = chunk(b"zTXt", b"text\0\0" + text) + chunk(b"IDAT", rows)
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + parts + chunk(b"IEND", b""))
    return path


def write_bmp(path):
    path.write_bytes(
        b"BM" + struct.pack("<IHHI", 54, 0, 0, 54) + struct.pack("<IiiHHIIiiII", 40, 60000, 60000, 1, 24, *[0] * 6)
    )
    return path


def write_tif(path):
    tags = [(256, 4, 1, 60000), (257, 4, 1, 60000), (258, 3, 1, 8), (259, 3, 1, 1), (262, 3, 1, 1)]
    tags += [(273, 4, 1, 8), (277, 3, 1, 1), (278, 4, 1, 60000), (279, 4, 1, 3_600_000_000)]
    entries = b"".join(struct.pack("<HHII", *tag) for tag in tags)
    path.write_bytes(b"II*\0" + struct.pack("<I", 8) + struct.pack("<H", len(tags)) + entries + bytes(4))
    return path


def write_h5(path, name, **options):
    path.parent.mkdir(parents=True, exist_ok=True)
    with h5py.File(path, "w") as file:
        rows = file.create_dataset(name, dtype=np.float32, **options)
        rows[0] = 0
        file["coords"] = np.zeros((1, 2))
    return path


def write_compressed_h5(path, name):
    """Write a gigabyte of zeros in compressed chunks."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with h5py.File(path, "w") as file:
        options = {"chunks": (1 << 14, 256), "compression": "gzip", "compression_opts": 9, "shuffle": True}
        rows = file.create_dataset(name, shape=(1 << 20, 256), dtype=np.float32, **options)
        for start in range(0, 1 << 20, 1 << 14):
            rows[start : start + (1 << 14)] = 0
    return path


TERABYTES = {"shape": (10**9, 1000), "chunks": (16, 1000)}


def forge_model(folder, **parameters):
    BagClassifier(epochs=1, random_state=0, engine="torch").fit(NEEDLES, NEEDLES.labels).save(folder)
    description = read_json(folder / "model.json")
    description["parameters"] |= parameters
    write_json(folder / "model.json", description)
    reseal(folder)
    return folder


def forge_instance_shape(folder):
    forge_model(folder)
    description = read_json(folder / "model.json")
    write_json(folder / "model.json", {**description, "instance_shape": [10**9]})
    reseal(folder)
    return folder


def forge_bags(folder, name):
    save_bags(NEEDLES, folder)
    write_declared_npy(folder / name)
    reseal(folder)
    return folder


def make_declared_bombs(folder):
    """Return files that only declare gigabytes, by name, each with its reader."""
    return {
        "npy": ("npy", write_declared_npy(folder / "a.npy")),
        "npz": ("npz", write_declared_npz(folder / "b.npz")),
        "expanded pt": ("pt", write_expanded_pt(folder / "a.pt")),
        "legacy pt": ("pt", write_legacy_pt(folder / "old.pt")),
        "svm": ("svm", write_wide_svm(folder / "a.svm")),
        "parquet": ("parquet", write_long_parquet(folder / "a.parquet")),
        "png of 60000 × 60000": ("png", write_png(folder / "a.png", 60_000)),
        "png as a background": ("background", write_png(folder / "a.png", 60_000)),
        "bmp of 60000 × 60000": ("bmp", write_bmp(folder / "a.bmp")),
        "tif of 60000 × 60000": ("tif", write_tif(folder / "a.tif")),
        "clam": ("clam", write_h5(folder / "clam" / "h5_files" / "a.h5", "features", **TERABYTES)),
        "trident": ("trident", write_h5(folder / "features_uni" / "a.h5", "features", **TERABYTES)),
        "stamp": ("stamp", write_h5(folder / "stamp" / "a.h5", "feats", **TERABYTES)),
        "bags": ("bags", forge_bags(folder / "bags", "instances.npy")),
        "offsets": ("bags", forge_bags(folder / "offsets", "offsets.npy")),
    }


def make_models(folder):
    """Return models whose parameters need 2.5 to 5 GB, by name, each with its reader."""
    return {
        "wide model": ("model", forge_model(folder / "wide", attention_width=10**7)),
        "model with many heads": ("model", forge_model(folder / "heads", heads=10**7)),
        "model with long instances": ("model", forge_instance_shape(folder / "long")),
    }


def make_compressed_bombs(folder):
    """Return files that contain gigabytes of compressed zeros, by name, each with its reader."""
    return {
        "npz": ("npz", write_compressed_npz(folder / "a.npz", zipfile.ZIP_DEFLATED)),
        "npz with bzip2": ("npz", write_compressed_npz(folder / "c.npz", zipfile.ZIP_BZIP2)),
        "pt": ("pt", write_compressed_pt(folder / "compressed.pt")),
        "mat": ("mat", write_compressed_mat(folder / "a.mat", GIGABYTE)),
        "mat with a wrong size": ("mat", write_compressed_mat(folder / "b.mat", 1000)),
        "gz": ("gz", write_compressed_gz(folder / "a.gz")),
        "png with text": ("png", write_png_text(folder / "b.png")),
        "h5": ("stamp", write_compressed_h5(folder / "zeros" / "a.h5", "feats")),
    }


def read_bombs(bombs, bounds):
    """Read bombs in a new process; return the outcomes: "opened", "rejected: …" or the name of another error."""
    for name, (_, path) in bombs.items():
        assert path.is_dir() or path.stat().st_size < 8 << 20, f"{name} is not a bomb: it is too large"
    requests = [(name, reader, str(path), bounds.get(name, BOUND)) for name, (reader, path) in bombs.items()]
    script = Path(__file__).with_name("bomb_reader.py")
    environment = {**os.environ, **ONE_ARENA, "PYTHONPATH": str(script.parents[1])}
    options = {"capture_output": True, "text": True, "check": False, "env": environment}
    result = subprocess.run([sys.executable, script], input=json.dumps(requests), **options)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def check_rejected_unread(outcomes):
    for name, outcome in outcomes.items():
        assert outcome.startswith("rejected: "), f"{name}: {outcome}"
        assert "allocate" not in outcome, f"{name}: {outcome}"


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    """Return the outcomes of the quick tests, by kind and name; one process reads all files."""
    folder = tmp_path_factory.mktemp("bombs")
    kinds = {
        "declared": make_declared_bombs(folder),
        "models": make_models(folder),
        "unchecked": {"unchecked": ("unchecked npy", folder / "a.npy")},
    }
    unlimited = dict.fromkeys(kinds["models"], 1 << 40)
    found = read_bombs({name: bomb for bombs in kinds.values() for name, bomb in bombs.items()}, unlimited)
    return {kind: {name: found[name] for name in bombs} for kind, bombs in kinds.items()}


@needs_linux
def test_readers_reject_small_files_that_declare_gigabytes_before_allocating_them(outcomes):
    check_rejected_unread(outcomes["declared"])


@needs_linux
def test_load_estimator_limits_the_memory_of_models_that_declare_gigabytes(outcomes):
    """Bagwise sets the limit, not the test."""
    for name, outcome in outcomes["models"].items():
        assert outcome.startswith("rejected: "), f"{name}: {outcome}"
        assert "allocate" in outcome, f"{name}: {outcome}"


@needs_linux
def test_memory_limit_stops_a_reader_that_allocates_the_declared_size(outcomes):
    assert outcomes["unchecked"]["unchecked"].startswith("MemoryError")


@needs_linux
@pytest.mark.full
@pytest.mark.timeout(1200)
def test_readers_reject_compressed_gigabytes_before_decompressing_them(tmp_path):
    bounds = {"gz": 600 << 20}  # a gz file declares no size: 256 MB are decompressed
    check_rejected_unread(read_bombs(make_compressed_bombs(tmp_path), bounds))


def test_read_table_accepts_a_parquet_file_of_many_cells(tmp_path):
    """The limits do not reject real files."""
    rows = [["bag", "label", *(f"f{number}" for number in range(20))]]
    rows += [[f"b{row // 50}", row // 50 % 2, *[0] * 20] for row in range(2000)]
    path = write_table(tmp_path / "a.csv", rows)
    parquet.write_table(csv.read_csv(path), tmp_path / "a.parquet")
    assert read_table(tmp_path / "a.parquet").n_instances == 2000
