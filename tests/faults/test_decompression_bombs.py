"""zip, png, h5, npz bombs: refused by declared size before allocation.

Each is a real small file that claims gigabytes. A process of its own opens one after the other, and tells how much
memory each took at most.
"""

import json
import struct
import subprocess
import sys
import zipfile
import zlib

import h5py
import numpy as np
import pyarrow
import pytest
import torch
from pyarrow import parquet

from bagwise.bags.folder import save_bags
from bagwise.data.datasets.registry import load_dataset
from bagwise.estimators.network import BagClassifier
from bagwise.io.json_files import read_json, write_json
from data.formats.foreign import write_table
from resealing import reseal

MOST = 100 << 20  # bytes that opening a bomb may take: what a package needs when it first runs, and no gigabyte
GIGABYTE = 1 << 30

CHILD = """
import json, sys, warnings
from pathlib import Path
import h5py, torch, pyarrow.parquet, PIL.Image
from bagwise.errors import InputError
from bagwise.estimators import BagEstimator
from bagwise.explain.heatmaps.backgrounds import open_background
from bagwise.data.formats.clam import Clam
from bagwise.io.numpy_files import read_npy, read_npz
from bagwise.data.formats.matlab import read_prtools
from bagwise.data.formats.stamp import Stamp
from bagwise.data.formats.svm_light import read_svm_light
from bagwise.data.formats.tables import read_table
from bagwise.data.formats.tensors import read_tensor
from bagwise.data.formats.trident import Trident
from bagwise.data.datasets.dataset_files import read_content
from bagwise.data.slides.image_bags import read_image
from bagwise.bags.folder import load_bags

def peak():
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))

def of_npz(path): return read_npz(path, "arr_0")
def of_clam(path): return Clam(path.parent.parent).read(path.stem)
def of_trident(path): return Trident(path.parent).read(path.stem)
def of_stamp(path): return Stamp(path.parent, 0.5).read(path.stem)

READERS = {"npz": of_npz, "npy": read_npy, "pt": read_tensor, "mat": read_prtools, "svm": read_svm_light,
           "gz": read_content, "parquet": read_table, "png": read_image, "tif": read_image, "bmp": read_image,
           "jpg": read_image, "clam": of_clam, "trident": of_trident, "stamp": of_stamp, "model": BagEstimator.load,
           "bags": load_bags, "ground": open_background}
found = {}
for name, reader, path in json.load(sys.stdin):
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    before = peak()
    try:
        READERS[reader](Path(path))
        ended = "opened"
    except InputError as error:
        ended = f"refused: {error}"
    except BaseException as error:
        ended = f"{type(error).__name__}: {error}"
    found[name] = [ended, peak() - before]
print(json.dumps(found))
"""


def zeros_npz(path, method):
    """A gigabyte of zeros, packed."""
    with zipfile.ZipFile(path, "w", method) as archive, archive.open("arr_0.npy", "w", force_zip64=True) as member:
        np.lib.format.write_array_header_1_0(member, {"descr": "|u1", "fortran_order": False, "shape": (GIGABYTE, 1)})
        for _ in range(GIGABYTE >> 24):
            member.write(bytes(1 << 24))
    return path


def claiming_npy(path):
    with path.open("wb") as stream:
        np.lib.format.write_array_header_1_0(stream, {"descr": "<f8", "fortran_order": False, "shape": (10**9, 4)})
        stream.write(bytes(64))
    return path


def claiming_npz(path):
    claiming_npy(path.with_suffix(".inner"))
    with zipfile.ZipFile(path, "w") as archive:
        archive.write(path.with_suffix(".inner"), "arr_0.npy")
    return path


def repeated_pt(path):
    torch.save(torch.zeros(1).expand(10**5, 10**5), path)
    return path


def packed_pt(path):
    """A tensor's file whose numbers, a gigabyte of zeros, are packed, which torch never does itself."""
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


def legacy_pt(path):
    """The old format, in which a file says how many numbers follow."""
    torch.save(torch.zeros(1000, 4), path, _use_new_zipfile_serialization=False)
    content = path.read_bytes()
    assert (4000).to_bytes(8, "little") in content
    path.write_bytes(content.replace(b"M\xa0\x0f", b"J\x00\x00\x00\x40").replace(
        (4000).to_bytes(8, "little"), (1 << 30).to_bytes(8, "little")))  # fmt: skip
    return path


def matlab(path, length):
    """A compressed array that says, and has, so many bytes."""
    packing = zlib.compressobj(9)
    packed = packing.compress(struct.pack("<II", 14, length))
    for _ in range(GIGABYTE >> 24):
        packed += packing.compress(bytes(1 << 24))
    packed += packing.flush()
    path.write_bytes(b"MATLAB 5.0".ljust(124) + b"\x00\x01IM" + struct.pack("<II", 15, len(packed)) + packed)
    return path


def gigabyte_gz(path):
    import gzip

    with gzip.open(path, "wb") as stream:
        for _ in range(GIGABYTE >> 24):
            stream.write(bytes(1 << 24))
    return path


def wide_svm(path):
    path.write_text("".join(f"{row}:b{row}:1 65000:1\n" for row in range(20_000)))
    return path


def long_parquet(path):
    codes = pyarrow.array(np.zeros(20_000_000, np.int8))
    columns = {name: pyarrow.DictionaryArray.from_arrays(codes, pyarrow.array([1.5])) for name in ("f1", "f2", "f3")}
    names = pyarrow.DictionaryArray.from_arrays(codes, pyarrow.array(["a"]))
    parquet.write_table(pyarrow.table({"bag": names, **columns}), path)
    return path


def png(path, side):
    """A picture of one colour: its header, and as many packed zeros as fit into a small file."""

    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    header = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    rows = zlib.compress(bytes(1 << 24), 9)
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b""))
    return path


def png_words(path):
    """A small picture with a gigabyte of words beside it."""

    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    packing = zlib.compressobj(9)
    words = b"".join(packing.compress(b"a" * (1 << 24)) for _ in range(GIGABYTE >> 24)) + packing.flush()
    header, rows = struct.pack(">IIBBBBB", 8, 8, 8, 2, 0, 0, 0), zlib.compress(bytes(8 * 25))
    parts = chunk(b"zTXt", b"words\0\0" + words) + chunk(b"IDAT", rows)
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + parts + chunk(b"IEND", b""))
    return path


def bmp(path):
    path.write_bytes(
        b"BM" + struct.pack("<IHHI", 54, 0, 0, 54) + struct.pack("<IiiHHIIiiII", 40, 60000, 60000, 1, 24, *[0] * 6)
    )
    return path


def tif(path):
    tags = [(256, 4, 1, 60000), (257, 4, 1, 60000), (258, 3, 1, 8), (259, 3, 1, 1), (262, 3, 1, 1)]
    tags += [(273, 4, 1, 8), (277, 3, 1, 1), (278, 4, 1, 60000), (279, 4, 1, 3_600_000_000)]
    entries = b"".join(struct.pack("<HHII", *tag) for tag in tags)
    path.write_bytes(b"II*\0" + struct.pack("<I", 8) + struct.pack("<H", len(tags)) + entries + bytes(4))
    return path


def h5(path, name, **how):
    path.parent.mkdir(parents=True, exist_ok=True)
    with h5py.File(path, "w") as file:
        rows = file.create_dataset(name, dtype=np.float32, **how)
        rows[0] = 0
        file["coords"] = np.zeros((1, 2))
    return path


def zeros_h5(path, name):
    """A gigabyte of zeros in packed chunks."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with h5py.File(path, "w") as file:
        how = {"chunks": (1 << 14, 256), "compression": "gzip", "compression_opts": 9, "shuffle": True}
        rows = file.create_dataset(name, shape=(1 << 20, 256), dtype=np.float32, **how)
        for start in range(0, 1 << 20, 1 << 14):
            rows[start : start + (1 << 14)] = 0
    return path


TERABYTES = {"shape": (10**9, 1000), "chunks": (16, 1000)}


def forged_model(folder, **parameters):
    BagClassifier(epochs=1, random_state=0, engine="torch").fit(NEEDLES, NEEDLES.labels).save(folder)
    description = read_json(folder / "model.json")
    description["parameters"] |= parameters
    write_json(folder / "model.json", description)
    reseal(folder)
    return folder


def forged_shape(folder):
    forged_model(folder)
    description = read_json(folder / "model.json")
    write_json(folder / "model.json", {**description, "instance_shape": [10**9]})
    reseal(folder)
    return folder


def forged_bags(folder, name):
    save_bags(NEEDLES, folder)
    claiming_npy(folder / name)
    reseal(folder)
    return folder


NEEDLES = load_dataset("needles", n_bags=12)


def quick_bombs(folder):
    """What takes no time to make."""
    return {
        "npy that claims": ("npy", claiming_npy(folder / "a.npy")),
        "npz that claims": ("npz", claiming_npz(folder / "b.npz")),
        "pt that repeats": ("pt", repeated_pt(folder / "a.pt")),
        "pt of old": ("pt", legacy_pt(folder / "old.pt")),
        "svm": ("svm", wide_svm(folder / "a.svm")),
        "parquet": ("parquet", long_parquet(folder / "a.parquet")),
        "png of 60000 × 60000": ("png", png(folder / "a.png", 60_000)),
        "png as a ground": ("ground", png(folder / "a.png", 60_000)),
        "bmp of 60000 × 60000": ("bmp", bmp(folder / "a.bmp")),
        "tif of 60000 × 60000": ("tif", tif(folder / "a.tif")),
        "clam": ("clam", h5(folder / "clam" / "h5_files" / "a.h5", "features", **TERABYTES)),
        "trident": ("trident", h5(folder / "features_uni" / "a.h5", "features", **TERABYTES)),
        "stamp": ("stamp", h5(folder / "stamp" / "a.h5", "feats", **TERABYTES)),
        "wide model": ("model", forged_model(folder / "wide", attention_width=10**9)),
        "model of many heads": ("model", forged_model(folder / "heads", heads=10**8)),
        "model of long instances": ("model", forged_shape(folder / "long")),
        "bags": ("bags", forged_bags(folder / "bags", "instances.npy")),
        "offsets": ("bags", forged_bags(folder / "offsets", "offsets.npy")),
    }


def slow_bombs(folder):
    """Real gigabytes, packed."""
    return {
        "npz": ("npz", zeros_npz(folder / "a.npz", zipfile.ZIP_DEFLATED)),
        "npz of bzip2": ("npz", zeros_npz(folder / "c.npz", zipfile.ZIP_BZIP2)),
        "pt": ("pt", packed_pt(folder / "packed.pt")),
        "mat": ("mat", matlab(folder / "a.mat", GIGABYTE)),
        "mat that lies": ("mat", matlab(folder / "b.mat", 1000)),
        "gz": ("gz", gigabyte_gz(folder / "a.gz")),
        "png of words": ("png", png_words(folder / "b.png")),
        "h5": ("stamp", zeros_h5(folder / "zeros" / "a.h5", "feats")),
    }


def opened(bombs):
    """What became of each, and the memory it took."""
    asked = json.dumps([(name, reader, str(path)) for name, (reader, path) in bombs.items()])
    done = subprocess.run(
        [sys.executable, "-c", CHILD], input=asked, capture_output=True, text=True, timeout=280, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def check(bombs, may_take=None):
    for name, (_, path) in bombs.items():
        assert path.is_dir() or path.stat().st_size < 8 << 20, f"{name} is no bomb: it is as large as what it claims"
    for name, (ended, taken) in opened(bombs).items():
        assert ended.startswith("refused: "), f"{name}: {ended}"
        assert taken < (may_take or {}).get(name, MOST), f"{name} took {taken:,} bytes before it was {ended}"


def test_small_files_that_claim_gigabytes_are_refused_unread(tmp_path):
    check(quick_bombs(tmp_path))


@pytest.mark.full
def test_gigabytes_that_are_packed_into_small_files_are_not_unpacked(tmp_path):
    check(slow_bombs(tmp_path), {"gz": 300 << 20})  # which does not say how long it is: 256 MB are unpacked


def test_a_table_of_many_cells_is_no_bomb(tmp_path):
    """The limits leave room for what real files hold."""
    rows = [["bag", "label", *(f"f{number}" for number in range(20))]]
    rows += [[f"b{row // 50}", row // 50 % 2, *[0] * 20] for row in range(2000)]
    path = write_table(tmp_path / "a.csv", rows)
    from pyarrow import csv

    parquet.write_table(csv.read_csv(path), tmp_path / "a.parquet")
    from bagwise.data.formats.tables import read_table

    assert read_table(tmp_path / "a.parquet").n_instances == 2000
