"""Payloads in files are never executed, and references to other files are never followed.

Payloads are pickles in .pt and .pt2 files and object arrays in npz and npy files; references are h5 links and virtual
data sets. Every reader of a format that can contain a payload reads one, which creates the file "harm" if it is
executed. Symbolic links in folders with a manifest must not point outside the folder (test_damaged_files.py). In other
folders, of features or images, links are allowed and are read like the files that they point to.
"""

import pickle
import shutil
import zipfile
from itertools import product

import h5py
import numpy as np
import pytest
import torch

from bagwise.bags.folder import load_bags, save_bags
from bagwise.data.datasets.registry import load_dataset
from bagwise.data.formats.detection import open_feature_folder
from bagwise.data.formats.matlab import read_prtools
from bagwise.data.formats.tables import read_table
from bagwise.data.formats.tensors import read_tensor
from bagwise.data.sources import open_source
from bagwise.errors import InputError
from bagwise.estimators.bag_classifier import BagClassifier
from bagwise.estimators.base import BagEstimator
from bagwise.estimators.classical.pooled import PooledClassifier
from bagwise.io.numpy_files import read_npy, read_npz
from bagwise.runs.run import Run
from command_line import run_rejected
from data.formats.foreign import clam_slide, features, grid, slideflow_slide, stamp_slide, trident_slide
from resealing import reseal

NEEDLES = load_dataset("needles", n_bags=12)


class OpenPayload:
    """An object that creates a file when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (open, (str(self.path), "w"))


class EvalPayload(OpenPayload):
    def __reduce__(self):
        return (eval, (f"open({str(self.path)!r}, 'w')",))


def write_pickle(path, payload):
    path.write_bytes(pickle.dumps(payload))


def write_pt(path, payload):
    torch.save(payload, path)


def write_legacy_pt(path, payload):
    torch.save({"features": torch.eye(2), "more": payload}, path, _use_new_zipfile_serialization=False)


def write_pt2(path, payload):
    """Write the layout of torch.export: pickles and code in a zip archive."""
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("archive/archive_format", "pt2")
        archive.writestr("archive/data.pkl", pickle.dumps(payload))
        archive.writestr("archive/data/sample_inputs/model.pt", pickle.dumps(payload))
        archive.writestr("archive/code/__main__.py", f"open({str(payload.path)!r}, 'w')")
        archive.writestr("archive/version", "3")


def write_object_npy(path, payload):
    np.save(path, np.array([payload], dtype=object), allow_pickle=True)


def write_object_npz(path, payload):
    np.savez(path.with_suffix(".npz"), np.array([payload], dtype=object))
    path.with_suffix(".npz").rename(path)


WRITERS = (write_pickle, write_pt, write_legacy_pt, write_pt2, write_object_npy, write_object_npz)


def prepare_pt(folder):
    return folder / "a.pt", lambda: read_tensor(folder / "a.pt")


def prepare_npy(folder):
    return folder / "a.npy", lambda: read_npy(folder / "a.npy")


def prepare_npz(folder):
    return folder / "a.npz", lambda: read_npz(folder / "a.npz", "arr_0")


def prepare_mat(folder):
    return folder / "a.mat", lambda: read_prtools(folder / "a.mat")


def prepare_parquet(folder):
    return folder / "a.parquet", lambda: read_table(folder / "a.parquet")


def prepare_clam(folder):
    written = clam_slide(folder, "s", features(), grid(), as_tensor=True)
    return written / "pt_files" / "s.pt", lambda: open_feature_folder(written).features.read("s")


def prepare_clam_h5(folder):
    written = clam_slide(folder, "s", features(), grid())
    return written / "h5_files" / "s.h5", lambda: open_feature_folder(written).features.read("s")


def prepare_slideflow(folder):
    written = slideflow_slide(folder, "s", features(), grid() + 128)
    return written / "s.pt", lambda: open_feature_folder(written, mpp=0.5).features.read("s")


def prepare_slideflow_index(folder):
    written = slideflow_slide(folder, "s", features(), grid() + 128)
    return written / "s.index.npz", lambda: open_feature_folder(written, mpp=0.5).features.read("s")


def prepare_bags(folder):
    save_bags(NEEDLES, folder / "bags")
    return folder / "bags" / "instances.npy", lambda: (reseal(folder / "bags"), load_bags(folder / "bags"))


def prepare_offsets(folder):
    save_bags(NEEDLES, folder / "bags")
    return folder / "bags" / "offsets.npy", lambda: (reseal(folder / "bags"), load_bags(folder / "bags"))


def prepare_model(folder):
    BagClassifier(epochs=1, random_state=0, engine="torch").fit(NEEDLES, NEEDLES.labels).save(folder / "model")
    written = folder / "model"
    return written / "model.safetensors", lambda: (reseal(written), BagEstimator.load(written))


def prepare_classifier(folder):
    """Return the path of the part of a model that skops reads, and a function that loads the model."""
    PooledClassifier(random_state=0).fit(NEEDLES, NEEDLES.labels).save(folder / "model")

    def load():
        from safetensors.torch import load_file, save_file

        path = folder / "model" / "model.safetensors"
        content = np.frombuffer((folder / "classifier").read_bytes(), np.uint8).copy()
        save_file({**load_file(path), "classifier": torch.from_numpy(content)}, path)
        reseal(folder / "model")
        BagEstimator.load(folder / "model")

    return folder / "classifier", load


def prepare_checkpoint(folder):
    model = BagClassifier(epochs=1, random_state=0, engine="torch")
    path = folder / "checkpoint.safetensors"
    return path, lambda: model.fit(NEEDLES, NEEDLES.labels, checkpoint=path)


READERS = {
    name.removeprefix("prepare_"): found for name, found in list(globals().items()) if name.startswith("prepare_")
}


@pytest.mark.parametrize("reader", READERS)
def test_readers_reject_payloads_and_never_execute_them(tmp_path, reader):
    path, read = READERS[reader](tmp_path)
    for write in WRITERS:
        for payload in (OpenPayload(tmp_path / "harm"), EvalPayload(tmp_path / "harm")):
            write(path, payload)
            with pytest.raises(InputError):
                read()
            assert not (tmp_path / "harm").exists(), write.__name__


@pytest.mark.parametrize("write", [write_object_npy, write_pickle])
def test_run_and_report_name_weights_with_a_payload_and_never_execute_it(digits_run, tmp_path, write):
    run = shutil.copytree(digits_run.folder, tmp_path / "run")
    write(run / "weights.npy", OpenPayload(tmp_path / "harm"))
    reseal(run)
    with pytest.raises(InputError, match=r"weights\.npy"):
        _ = Run(run).weights
    assert "weights.npy" in run_rejected("report", run, cwd=tmp_path)
    assert not (tmp_path / "harm").exists()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_read_tensor_rejects_torchscript_and_names_the_file(tmp_path):
    torch.jit.save(torch.jit.trace(torch.nn.Linear(2, 2), torch.zeros(1, 2)), tmp_path / "a.pt")
    with pytest.raises(InputError, match=r"a\.pt"):
        read_tensor(tmp_path / "a.pt")


def test_payload_is_executed_when_it_is_unpickled(tmp_path):
    """Check that the payload works; otherwise the other tests would pass for the wrong reason."""
    write_pickle(tmp_path / "a.pt", OpenPayload(tmp_path / "harm"))
    pickle.loads((tmp_path / "a.pt").read_bytes()).close()
    assert (tmp_path / "harm").exists()


@pytest.mark.parametrize("name", ["a.pt2", "a.pt", "a.pkl", "a.joblib"])
def test_open_source_and_evaluate_reject_files_with_code(tmp_path, name):
    write_pt2(tmp_path / name, OpenPayload(tmp_path / "harm"))
    with pytest.raises(InputError, match="is not a table that can be read"):
        open_source(str(tmp_path / name))
    assert "is not a folder" in run_rejected("evaluate", tmp_path / name, cwd=tmp_path)
    assert not (tmp_path / "harm").exists()


def write_outside(folder):
    """Write a file that an h5 file must not refer to."""
    with h5py.File(folder / "secret.h5", "w") as file:
        file["rows"] = np.full((5, 4), 7.0)
        file["corners"] = grid()
    (folder / "secret.bin").write_bytes(np.full((5, 4), 7.0).tobytes())
    return folder / "secret.h5"


def add_external_link(file, name, secret, shape):
    file[name] = h5py.ExternalLink(secret, "rows" if shape[1] == 4 else "corners")


def add_link_to_external_link(file, name, secret, shape):
    file["elsewhere"] = h5py.ExternalLink(secret, "rows" if shape[1] == 4 else "corners")
    file[name] = h5py.SoftLink("/elsewhere")


def add_virtual_data_set(file, name, secret, shape):
    layout = h5py.VirtualLayout(shape, dtype=float)
    layout[:] = h5py.VirtualSource(secret, "rows" if shape[1] == 4 else "corners", shape=shape)
    file.create_virtual_dataset(name, layout)


def add_external_storage(file, name, secret, shape):
    raw = secret.with_suffix(".bin")
    file.create_dataset(name, shape=shape, dtype=float, external=[(str(raw), 0, 8 * shape[0] * shape[1])])


def clam(folder):
    return clam_slide(folder, "s", features(), grid()), folder / "features" / "h5_files" / "s.h5", "features"


def clam_patches(folder):
    return clam_slide(folder, "s", features(), grid()), folder / "patches" / "s.h5", "coords"


def trident(folder):
    written = trident_slide(folder, "s", features(), grid())
    return written, written / "s.h5", "features"


def stamp(folder):
    written = stamp_slide(folder / "stamp", "s", features(), grid().astype(float))
    return written, written / "s.h5", "feats"


REFERENCES = {
    add_external_link: "is a link to another location",
    add_link_to_external_link: "is a link to another location",
    add_virtual_data_set: "are stored in other files",
    add_external_storage: "are stored in other files",
}
PAIRS = {(clam, add_external_link), (clam_patches, add_external_storage)}  # each tool and each reference once
PAIRS |= {(trident, add_virtual_data_set), (stamp, add_link_to_external_link)}


def pairwise(tool, add_reference):
    marks = () if (tool, add_reference) in PAIRS else pytest.mark.full
    return pytest.param(tool, add_reference, marks=marks, id=f"{tool.__name__}-{add_reference.__name__}")


@pytest.mark.parametrize("data_set", ["features", "positions"])
@pytest.mark.parametrize(
    ("tool", "add_reference"), [pairwise(*pair) for pair in product((clam, clam_patches, trident, stamp), REFERENCES)]
)
def test_import_rejects_h5_references_to_other_files_and_names_the_file(tmp_path, tool, add_reference, data_set):
    secret = write_outside(tmp_path)
    folder, path, name = tool(tmp_path)
    name, shape = ("coords", (5, 2)) if name == "coords" or data_set == "positions" else (name, (5, 4))
    with h5py.File(path, "a") as file:
        del file[name]
        add_reference(file, name, secret, shape)
    (tmp_path / "labels.csv").write_text("slide_id,label\ns,1\n")
    with pytest.raises(InputError, match=REFERENCES[add_reference]):
        open_feature_folder(folder, tool.__name__.partition("_")[0], mpp=0.5).features.read("s")
    message = run_rejected("import", folder, "--labels", "labels.csv", "--out", "bags", "-q", cwd=tmp_path)
    assert f"{path}: " in message
    assert REFERENCES[add_reference] in message
    assert not (tmp_path / "bags").exists()
