"""Targets of the fuzzer: a valid file and its reader, for every reader of files and every loader of saved objects.

The manifest is updated after each change, as an attacker could do.
"""

import contextlib
import functools
import json
import shutil
import tempfile
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from safetensors.torch import load_file, save_file

from bagwise.bags.folder import load_bags, save_bags
from bagwise.cli.options import gather_parameters, read_methods
from bagwise.data.datasets.mnist_bags import _read_idx
from bagwise.data.datasets.registry import load_dataset
from bagwise.data.formats.tables import read_table
from bagwise.data.slides.bag_labels import read_bag_labels
from bagwise.data.slides.image_bags import ImageTiling, load_image_bags, read_image
from bagwise.data.slides.tile_files import read_tiles
from bagwise.estimators.bag_classifier import BagClassifier
from bagwise.estimators.base import BagEstimator
from bagwise.estimators.classical.mi_kernel import MIKernel
from bagwise.estimators.classical.pooled import PooledClassifier
from bagwise.estimators.meta.adjusted import Adjusted
from bagwise.evaluation.comparison.comparison_folder import Comparison
from bagwise.evaluation.comparison.plan import make_plan
from bagwise.evaluation.comparison.runner import compare_methods
from bagwise.evaluation.comparison.score_tables import make_difference_rows, make_score_rows
from bagwise.explain.geojson import read_geojson
from bagwise.report.summary import summarise_run
from bagwise.runs.execution import execute_run
from bagwise.runs.run import Run
from bagwise.training.loop import TrainingStopped
from data.formats.test_mutations import READERS
from resealing import reseal

NEEDLES = load_dataset("needles", n_bags=12)
MODELS = {
    "network": lambda: BagClassifier(epochs=1, random_state=0, engine="torch", attention_width=4),
    "kernel": lambda: MIKernel(random_state=0),
    "trees": lambda: PooledClassifier(random_state=0),
    "adjusted": lambda: Adjusted(MIKernel(), random_state=0),
}


def prepare_tsv(folder):
    (folder / "rows.tsv").write_text("bag\tlabel\tf1\na\t1\t0.5\nb\t0\t2\n")
    return folder / "rows.tsv", lambda: read_table(folder / "rows.tsv")


def prepare_geojson(folder):
    ring = [[0, 0], [0, 9], [9, 9], [9, 0], [0, 0]]
    properties = {"objectType": "tile", "classification": {"name": "a", "color": [1, 2, 3]}, "measurements": {"m": 0.5}}
    feature = {"type": "Feature", "geometry": {"type": "Polygon", "coordinates": [ring]}, "properties": properties}
    (folder / "a.geojson").write_text(json.dumps({"type": "FeatureCollection", "features": [feature, feature]}))
    return folder / "a.geojson", lambda: read_geojson(folder / "a.geojson")


def make_image_target(suffix):
    def prepare(folder):
        path = folder / f"a.{suffix}"
        Image.fromarray(np.random.default_rng(0).integers(0, 255, (24, 24, 3), dtype=np.uint8)).save(path)
        return path, lambda: read_image(path)

    return prepare


def prepare_image_table(folder):
    Image.fromarray(np.zeros((24, 24, 3), np.uint8)).save(folder / "a.png")
    (folder / "images.csv").write_text("file,label,group\na.png,1,p\n")
    return folder / "images.csv", lambda: load_image_bags(folder / "images.csv", ImageTiling(8))


def prepare_slide_labels(folder):
    (folder / "labels.csv").write_text("slide_id,label,case_id\ns1,1,p\ns2,0,q\n")
    return folder / "labels.csv", lambda: read_bag_labels(folder / "labels.csv", "slide_id", "label", "case_id")


def prepare_tiles(folder):
    content = {"kind": "bagwise tiles", "version": 1, "slide": "/a.svs", "width": 99, "height": 99, "mpp": 0.5}
    content |= {"size": 8, "tile_size": 16, "settings": {"size": 8}, "positions": [[0, 0], [16, 16]]}
    (folder / "a.json").write_text(json.dumps(content))
    return folder / "a.json", lambda: read_tiles(folder / "a.json").fingerprint


def prepare_idx(folder):
    import gzip

    (folder / "labels").write_bytes(gzip.compress(bytes([0, 0, 8, 1, 0, 0, 0, 3, 5, 7, 9]), mtime=0))
    return folder / "labels", lambda: _read_idx(folder / "labels", 1)


def prepare_parameters_file(folder):
    (folder / "a.toml").write_text('epochs = 3\nlearning_rate = 1e-3\npooling = "max"\n[data]\nn_bags = 9\n')
    return folder / "a.toml", lambda: gather_parameters({}, folder / "a.toml")


def prepare_methods_file(folder):
    (folder / "a.toml").write_text('[methods."MI-SVM"]\nC = 10\n[select."MI-SVM"]\nC = [1, 10]\n')
    return folder / "a.toml", lambda: read_methods("MI-SVM", {}, folder / "a.toml")


def make_bags_target(name):
    def prepare(folder):
        positions = np.arange(2 * NEEDLES.n_instances).reshape(-1, 2)
        save_bags(NEEDLES.replace(positions=positions), folder / "bags")

        def read():
            if name != "manifest.json":
                reseal(folder / "bags")
            bags = load_bags(folder / "bags")
            _ = repr(bags), bags[:1].instances.sum()

        return folder / "bags" / name, read

    return prepare


def make_model_target(kind, name):
    def prepare(folder):
        MODELS[kind]().fit(NEEDLES, NEEDLES.labels).save(folder / "model")

        def read():
            if name != "manifest.json":
                reseal(folder / "model")
            BagEstimator.load(folder / "model").predict_with_weights(NEEDLES)

        return folder / "model" / name, read

    return prepare


def write_classifier(folder):
    """Write the part of a model that skops reads; return its path and reader."""
    MODELS["trees"]().fit(NEEDLES, NEEDLES.labels).save(folder / "model")
    path = folder / "model" / "model.safetensors"
    tensors = load_file(path)
    (folder / "classifier").write_bytes(tensors["classifier"].numpy().tobytes())

    def read():
        content = np.frombuffer((folder / "classifier").read_bytes(), np.uint8).copy()
        save_file({**tensors, "classifier": torch.from_numpy(content)}, path)
        reseal(folder / "model")
        BagEstimator.load(folder / "model").predict_with_weights(NEEDLES)

    return folder / "classifier", read


def write_checkpoint(folder):
    """Write a checkpoint of an unfinished training; return its path and a function that resumes the training."""
    model, path, calls = BagClassifier(epochs=2, random_state=0, engine="torch", attention_width=4), folder / "c", []
    with contextlib.suppress(TrainingStopped):
        model.fit(NEEDLES, NEEDLES.labels, checkpoint=path, should_stop=lambda: calls.append(1) or len(calls) > 14)
    return path, lambda: model.fit(NEEDLES, NEEDLES.labels, checkpoint=path)


def write_checkpoint_state(folder):
    """Write the header of a checkpoint; the reader adds a valid checksum."""
    path, resume = write_checkpoint(folder)
    from safetensors import safe_open

    from bagwise.training.checkpoint import _digest

    tensors = load_file(path)
    with safe_open(path, "pt") as file:
        (folder / "state").write_text(file.metadata()["state"])

    def read():
        text = (folder / "state").read_bytes().decode("latin-1")
        save_file(tensors, path, {"state": text, "sha256": _digest(tensors, text)})
        resume()

    return folder / "state", read


@functools.cache
def make_run():
    """Return a run, which is made once for the targets of all its files."""
    data = {"data": "needles", "options": {"n_bags": 16}, "test": None, "split_seed": 1}
    parameters = {"epochs": 1, "batch_size": 8, "random_state": 0, "engine": "torch", "attention_width": 4}
    return execute_run(Path(tempfile.mkdtemp()) / "run", {"data": data, "parameters": parameters}).folder


@functools.cache
def make_comparison():
    methods = {"MI-Kernel": {"calibration": False}, "MI-SVM": {"calibration": False}}
    plan = make_plan("needles", methods, options={"n_bags": 12}, folds=2)
    return compare_methods(Path(tempfile.mkdtemp()) / "all", plan).folder


def make_run_target(name):
    def prepare(folder):
        shutil.copytree(make_run(), folder / "run")

        def read():
            if name != "manifest.json":
                reseal(folder / "run")
            summarise_run(Run(folder / "run"))

        return folder / "run" / name, read

    return prepare


def make_comparison_target(name):
    def prepare(folder):
        shutil.copytree(make_comparison(), folder / "all")

        def read():
            if name != "manifest.json":
                reseal(folder / "all")
            found = Comparison(folder / "all")
            make_score_rows(found), make_difference_rows(found, "auc")

        return folder / "all" / name, read

    return prepare


BAG_FILES = ("instances.npy", "offsets.npy", "bags.csv", "positions.npy")
RUN_FILES = ("parameters.json", "metrics.json", "environment.json")
RUN_FILES += ("predictions.csv", "history.csv", "weights.npy", "manifest.json")
TARGETS = {
    **READERS,
    **{name.removeprefix("prepare_"): found for name, found in list(globals().items()) if name.startswith("prepare_")},
    **{f"image {suffix}": make_image_target(suffix) for suffix in ("png", "jpg", "tif", "bmp", "webp")},
    **{f"bags {name}": make_bags_target(name) for name in BAG_FILES},
    "bags manifest": make_bags_target("manifest.json"),
    **{f"model {kind}": make_model_target(kind, "model.json") for kind in MODELS},
    **{f"tensors {kind}": make_model_target(kind, "model.safetensors") for kind in ("network", "kernel")},
    "model manifest": make_model_target("network", "manifest.json"),
    "classifier": write_classifier,
    "checkpoint": write_checkpoint,
    "checkpoint state": write_checkpoint_state,
    **{f"run {name}": make_run_target(name) for name in RUN_FILES},
    "comparison plan": make_comparison_target("plan.json"),
    "comparison unit": make_comparison_target("units/MI-SVM/000-000.json"),
    "comparison manifest": make_comparison_target("manifest.json"),
}
