"""Damaged input of every reader is read, or rejected with an InputError that names the file."""

import h5py
import numpy as np
import pyarrow
import pytest
import scipy.io
import torch
from pyarrow import parquet

from bagwise.bags.split_files import read_split_file
from bagwise.data.formats.clam import Clam
from bagwise.data.formats.detection import open_feature_folder
from bagwise.data.formats.h5 import open_h5
from bagwise.data.formats.matlab import read_prtools
from bagwise.data.formats.slide_labels import read_slide_labels
from bagwise.data.formats.slideflow import Slideflow
from bagwise.data.formats.stamp import Stamp
from bagwise.data.formats.svm_light import read_svm_light
from bagwise.data.formats.tables import read_table
from bagwise.data.formats.tensors import read_tensor
from bagwise.data.formats.trident import Trident
from bagwise.data.formats.uci_musk import read_uci_musk
from bagwise.io.numpy_files import read_npy, read_npz
from data.formats.damage import check
from data.formats.foreign import clam_slide, features, grid, slideflow_slide, stamp_slide, trident_slide

TEXTS = {
    "rows.csv": ("bag,label,case_id,f1,f2\na,1,p,0.5,1\nb,0,q,2,3\na,1,p,4,5\n", read_table),
    "musk.data": ("M1,M1_1,1,2,3,1.\nM1,M1_2,4,5,6,1.\nN1,N1_1,7,8,9,0.\n", read_uci_musk),
    "light.svm": ("0:a:1 1:0.5 4:2\n1:b:-1 2:1\n2:a:1 3:1\n", read_svm_light),
    "labels.csv": ("case_id,slide_id,label\np1,s1.svs,1\np1,s2,1\np2,s3,0\n", read_slide_labels),
    "splits_0.csv": (",train,val,test\n0,a,c,d\n1,b,,\n", read_split_file),
}


def make_text_reader(name):
    def prepare(folder):
        content, read = TEXTS[name]
        (folder / name).write_text(content)
        return folder / name, lambda: read(folder / name)

    return prepare


def prepare_parquet(folder):
    table = pyarrow.table({"bag": ["a", "b", "a"], "label": [1, 0, 1], "f1": [0.5, 1.5, 2.5]})
    parquet.write_table(table, folder / "file7.parquet")
    return folder / "file7.parquet", lambda: read_table(folder / "file7.parquet")


def prepare_npy(folder):
    np.save(folder / "file7.npy", features())
    return folder / "file7.npy", lambda: read_npy(folder / "file7.npy")


def prepare_npz(folder):
    np.savez_compressed(folder / "file7.npz", features())
    return folder / "file7.npz", lambda: read_npz(folder / "file7.npz", "arr_0")


def prepare_pt(folder):
    torch.save(torch.from_numpy(features()), folder / "file7.pt")
    return folder / "file7.pt", lambda: read_tensor(folder / "file7.pt")


def prepare_old_pt(folder):
    torch.save(torch.from_numpy(features()), folder / "file7.pt", _use_new_zipfile_serialization=False)
    return folder / "file7.pt", lambda: read_tensor(folder / "file7.pt")


def prepare_compressed_h5(folder):
    with h5py.File(folder / "file7.h5", "w", libver="latest") as file:
        file.create_dataset("features", data=features(64, 16), chunks=(16, 16), compression="gzip", shuffle=True)
        file.attrs["extractor"] = "uni"

    def read():
        with open_h5(folder / "file7.h5") as file:
            return file.rows("features"), file.attributes("", "extractor")

    return folder / "file7.h5", read


def prepare_bag_table(folder):
    (folder / "rows.csv").write_text("bag,f1\na,1\nb,2\n")
    (folder / "bags.csv").write_text("bag,label,case_id\na,1,p\nb,0,q\n")
    return folder / "bags.csv", lambda: read_table(folder / "rows.csv", bags=folder / "bags.csv")


def prepare_slide_table(folder):
    (folder / "clini.csv").write_text("PATIENT,label\np,1\nq,0\n")
    (folder / "slide.csv").write_text("PATIENT,FILENAME\np,s1.h5\nq,s2.h5\n")
    return folder / "slide.csv", lambda: read_slide_labels(folder / "clini.csv", folder / "slide.csv")


def prepare_prtools(folder):
    ident = {"milbag": np.array([[7], [5], [7], [5]], dtype=np.uint8)}
    table = {"data": features(4), "nlab": np.array([[2], [1], [2], [1]]), "ident": ident}
    scipy.io.savemat(folder / "file7.mat", {"x": table}, do_compression=True)
    return folder / "file7.mat", lambda: read_prtools(folder / "file7.mat")


def prepare_clam(folder):
    written = clam_slide(folder, "case7", features(), grid())
    return written / "h5_files" / "case7.h5", lambda: Clam(written).read("case7")


def prepare_clam_patches(folder):
    written = clam_slide(folder, "case7", features(), grid())
    return folder / "patches" / "case7.h5", lambda: Clam(written).read("case7")


def prepare_trident(folder):
    written = trident_slide(folder, "case7", features(), grid())
    return written / "case7.h5", lambda: Trident(written).read("case7")


def prepare_trident_patches(folder):
    written = trident_slide(folder, "case7", features(), grid(), attributes=False)
    return written.parent / "patches" / "case7_patches.h5", lambda: Trident(written).read("case7")


def prepare_stamp(folder):
    written = stamp_slide(folder, "case7", features(), grid().astype(float))
    return written / "case7.h5", lambda: Stamp(written, 0.5).read("case7")


def prepare_slideflow(folder):
    written = slideflow_slide(folder, "case7", features(), grid() + 128)
    return written / "bags_config.json", lambda: Slideflow(written, 0.5).read("case7")


def prepare_slideflow_index(folder):
    written = slideflow_slide(folder, "case7", features(), grid() + 128)
    return written / "case7.index.npz", lambda: Slideflow(written, 0.5).read("case7")


def prepare_detection(folder):
    written = stamp_slide(folder, "case7", features(), grid().astype(float))
    return written / "case7.h5", lambda: open_feature_folder(written)


READERS = {
    **{f"text {name}": make_text_reader(name) for name in TEXTS},
    **{name.removeprefix("prepare_"): found for name, found in list(globals().items()) if name.startswith("prepare_")},
}


@pytest.mark.parametrize("reader", READERS)
def test_readers_read_or_reject_damaged_input(tmp_path, reader):
    check(*READERS[reader](tmp_path), max_examples=100, derandomize=True)


@pytest.mark.full
@pytest.mark.parametrize("reader", READERS)
def test_readers_read_or_reject_random_damage(tmp_path, reader):
    check(*READERS[reader](tmp_path), max_examples=2000)
