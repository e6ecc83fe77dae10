"""Malicious pickle in .pt, objects in npz/npy, h5 external links and virtual sets, `.pt2`: never executed or followed.

Every reader of a file that could hold such a thing is given a real one; run, it would make the file ``harm``.
Links within folders that a manifest seals lead nowhere outside of them (test_damage); in other folders, of features or
of images, a link is the user's own and is read like the file it names.
"""

import pickle
import shutil
import zipfile

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
from bagwise.estimators.base import BagEstimator
from bagwise.estimators.classical.pooled import PooledClassifier
from bagwise.estimators.network import BagClassifier
from bagwise.io.numpy_files import read_npy, read_npz
from bagwise.runs.run import Run
from command_line import refusal
from data.formats.foreign import clam_slide, features, grid, slideflow_slide, stamp_slide, trident_slide
from resealing import reseal

NEEDLES = load_dataset("needles", n_bags=12)


class Harm:
    """Unpickled, it makes a file."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (open, (str(self.path), "w"))


class Evaluated(Harm):
    def __reduce__(self):
        return (eval, (f"open({str(self.path)!r}, 'w')",))


def pickled(path, harm):
    path.write_bytes(pickle.dumps(harm))


def zipped(path, harm):
    torch.save(harm, path)


def legacy(path, harm):
    torch.save({"features": torch.eye(2), "more": harm}, path, _use_new_zipfile_serialization=False)


def as_pt2(path, harm):
    """The layout of torch.export: pickles beside code, in a zip."""
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("archive/archive_format", "pt2")
        archive.writestr("archive/data.pkl", pickle.dumps(harm))
        archive.writestr("archive/data/sample_inputs/model.pt", pickle.dumps(harm))
        archive.writestr("archive/code/__main__.py", f"open({str(harm.path)!r}, 'w')")
        archive.writestr("archive/version", "3")


def objects_npy(path, harm):
    np.save(path, np.array([harm], dtype=object), allow_pickle=True)


def objects_npz(path, harm):
    np.savez(path.with_suffix(".npz"), np.array([harm], dtype=object))
    path.with_suffix(".npz").rename(path)


FORGERIES = (pickled, zipped, legacy, as_pt2, objects_npy, objects_npz)


def of_pt(folder):
    return folder / "a.pt", lambda: read_tensor(folder / "a.pt")


def of_npy(folder):
    return folder / "a.npy", lambda: read_npy(folder / "a.npy")


def of_npz(folder):
    return folder / "a.npz", lambda: read_npz(folder / "a.npz", "arr_0")


def of_mat(folder):
    return folder / "a.mat", lambda: read_prtools(folder / "a.mat")


def of_parquet(folder):
    return folder / "a.parquet", lambda: read_table(folder / "a.parquet")


def of_clam(folder):
    place = clam_slide(folder, "s", features(), grid(), as_tensor=True)
    return place / "pt_files" / "s.pt", lambda: open_feature_folder(place).features.read("s")


def of_clam_h5(folder):
    place = clam_slide(folder, "s", features(), grid())
    return place / "h5_files" / "s.h5", lambda: open_feature_folder(place).features.read("s")


def of_slideflow(folder):
    place = slideflow_slide(folder, "s", features(), grid() + 128)
    return place / "s.pt", lambda: open_feature_folder(place, mpp=0.5).features.read("s")


def of_slideflow_index(folder):
    place = slideflow_slide(folder, "s", features(), grid() + 128)
    return place / "s.index.npz", lambda: open_feature_folder(place, mpp=0.5).features.read("s")


def of_bags(folder):
    save_bags(NEEDLES, folder / "bags")
    return folder / "bags" / "instances.npy", lambda: (reseal(folder / "bags"), load_bags(folder / "bags"))


def of_offsets(folder):
    save_bags(NEEDLES, folder / "bags")
    return folder / "bags" / "offsets.npy", lambda: (reseal(folder / "bags"), load_bags(folder / "bags"))


def of_model(folder):
    BagClassifier(epochs=1, random_state=0, engine="torch").fit(NEEDLES, NEEDLES.labels).save(folder / "model")
    place = folder / "model"
    return place / "model.safetensors", lambda: (reseal(place), BagEstimator.load(place))


def of_classifier(folder):
    """The part of a model that skops reads."""
    PooledClassifier(random_state=0).fit(NEEDLES, NEEDLES.labels).save(folder / "model")

    def load():
        from safetensors.torch import load_file, save_file

        path = folder / "model" / "model.safetensors"
        content = np.frombuffer((folder / "classifier").read_bytes(), np.uint8).copy()
        save_file({**load_file(path), "classifier": torch.from_numpy(content)}, path)
        reseal(folder / "model")
        BagEstimator.load(folder / "model")

    return folder / "classifier", load


def of_checkpoint(folder):
    model = BagClassifier(epochs=1, random_state=0, engine="torch")
    path = folder / "checkpoint.safetensors"
    return path, lambda: model.fit(NEEDLES, NEEDLES.labels, checkpoint=path)


READERS = {name.removeprefix("of_"): found for name, found in list(globals().items()) if name.startswith("of_")}


@pytest.mark.parametrize("reader", READERS)
def test_nothing_in_a_file_is_ever_run(tmp_path, reader):
    path, read = READERS[reader](tmp_path)
    for forgery in FORGERIES:
        for harm in (Harm(tmp_path / "harm"), Evaluated(tmp_path / "harm")):
            forgery(path, harm)
            with pytest.raises(InputError):
                read()
            assert not (tmp_path / "harm").exists(), forgery.__name__


@pytest.mark.parametrize("forgery", [objects_npy, pickled])
def test_the_weights_of_a_forged_run_are_not_run(digits_run, tmp_path, forgery):
    run = shutil.copytree(digits_run.folder, tmp_path / "run")
    forgery(run / "weights.npy", Harm(tmp_path / "harm"))
    reseal(run)
    with pytest.raises(InputError, match=r"weights\.npy"):
        _ = Run(run).weights
    assert "weights.npy" in refusal("report", run, cwd=tmp_path)
    assert not (tmp_path / "harm").exists()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_script_of_torch_is_no_tensor(tmp_path):
    torch.jit.save(torch.jit.trace(torch.nn.Linear(2, 2), torch.zeros(1, 2)), tmp_path / "a.pt")
    with pytest.raises(InputError, match=r"a\.pt"):
        read_tensor(tmp_path / "a.pt")


def test_a_forged_pickle_is_run_by_those_who_unpickle(tmp_path):
    """The forgeries are real: what bagwise never does, done here."""
    pickled(tmp_path / "a.pt", Harm(tmp_path / "harm"))
    pickle.loads((tmp_path / "a.pt").read_bytes()).close()
    assert (tmp_path / "harm").exists()


@pytest.mark.parametrize("name", ["a.pt2", "a.pt", "a.pkl", "a.joblib"])
def test_files_that_are_code_are_no_data(tmp_path, name):
    as_pt2(tmp_path / name, Harm(tmp_path / "harm"))
    with pytest.raises(InputError, match="is not a table that can be read"):
        open_source(str(tmp_path / name))
    assert "is not a folder" in refusal("evaluate", tmp_path / name, cwd=tmp_path)
    assert not (tmp_path / "harm").exists()


def outside(folder):
    """A file of rows that nobody named."""
    with h5py.File(folder / "secret.h5", "w") as file:
        file["rows"] = np.full((5, 4), 7.0)
        file["corners"] = grid()
    (folder / "secret.bin").write_bytes(np.full((5, 4), 7.0).tobytes())
    return folder / "secret.h5"


def link_outside(file, name, secret, shape):
    file[name] = h5py.ExternalLink(secret, "rows" if shape[1] == 4 else "corners")


def link_within(file, name, secret, shape):
    file["elsewhere"] = h5py.ExternalLink(secret, "rows" if shape[1] == 4 else "corners")
    file[name] = h5py.SoftLink("/elsewhere")


def virtual(file, name, secret, shape):
    layout = h5py.VirtualLayout(shape, dtype=float)
    layout[:] = h5py.VirtualSource(secret, "rows" if shape[1] == 4 else "corners", shape=shape)
    file.create_virtual_dataset(name, layout)


def stored_outside(file, name, secret, shape):
    raw = secret.with_suffix(".bin")
    file.create_dataset(name, shape=shape, dtype=float, external=[(str(raw), 0, 8 * shape[0] * shape[1])])


def clam(folder):
    return clam_slide(folder, "s", features(), grid()), folder / "features" / "h5_files" / "s.h5", "features"


def clam_patches(folder):
    return clam_slide(folder, "s", features(), grid()), folder / "patches" / "s.h5", "coords"


def trident(folder):
    place = trident_slide(folder, "s", features(), grid())
    return place, place / "s.h5", "features"


def stamp(folder):
    place = stamp_slide(folder / "stamp", "s", features(), grid().astype(float))
    return place, place / "s.h5", "feats"


@pytest.mark.parametrize("tool", [clam, clam_patches, trident, stamp])
@pytest.mark.parametrize("way", [link_outside, link_within, virtual, stored_outside])
@pytest.mark.parametrize("also_positions", [False, True])
def test_no_h5_file_leads_elsewhere(tmp_path, tool, way, also_positions):
    secret = outside(tmp_path)
    place, path, name = tool(tmp_path)
    name, shape = ("coords", (5, 2)) if also_positions or name == "coords" else (name, (5, 4))
    with h5py.File(path, "a") as file:
        del file[name]
        way(file, name, secret, shape)
    (tmp_path / "labels.csv").write_text("slide_id,label\ns,1\n")
    with pytest.raises(InputError, match=r"link to another place|lie in other files"):
        open_feature_folder(place, tool.__name__.partition("_")[0], mpp=0.5).features.read("s")
    said = refusal("import", place, "--labels", "labels.csv", "--out", "bags", "-q", cwd=tmp_path)
    assert "s.h5" in said
    assert not (tmp_path / "bags").exists()
