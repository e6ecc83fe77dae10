"""One-instance bag; 1,000,000-instance bag: weight exactly 1.0; prediction within 32 MB of anonymous memory."""

import csv

import numpy as np
import pytest
import torch

from bagwise.bags.bags import Bags
from bagwise.bags.folder import BagWriter
from bagwise.runs.execution import execute_run
from bagwise.training.inference import run_inference
from faults.measuring import fits_into_memory, needs_linux
from sensible_models import every, model_of

BOUND = 32_000_000
QUICK, GREAT = (150_000, 64), (1_000_000, 512)
full_too = pytest.mark.parametrize("trained", [QUICK, pytest.param(GREAT, marks=pytest.mark.full)], indirect=True)


@every
@pytest.mark.parametrize("heads", [1, 3])
def test_the_only_instance_of_a_bag_weighs_exactly_one(case, heads):
    rows = np.random.default_rng(0).normal(size=(40, 4)).astype(np.float32) * np.logspace(-6, 6, 40)[:, None]
    alone = Bags(rows.astype(np.float32), np.arange(41))
    assert (run_inference(model_of(case, heads), alone, torch.device("cpu")).weights == 1).all()


@pytest.fixture(scope="module")
def trained(request, tmp_path_factory):
    """A run, a few bags, and one of so many rows and features, in folders."""
    n_rows, width = request.param
    folder = tmp_path_factory.mktemp("great")
    draws = np.random.default_rng(0)
    with BagWriter(folder / "few") as writer:
        for number in range(20):
            writer.add(draws.normal(size=(600, width)).astype(np.float32), name=f"bag-{number}", label=number % 2)
    rows = np.lib.format.open_memmap(folder / "rows.npy", mode="w+", dtype=np.float32, shape=(n_rows, width))
    rows[:: n_rows // 1000] = draws.normal(size=(len(rows[:: n_rows // 1000]), width))  # the rest is a hole on the disk
    with BagWriter(folder / "great") as writer:
        writer.add(rows, name="great", label=1)
    data = {"data": str(folder / "few"), "options": {}, "test": None}
    execute_run(folder / "run", {"data": data, "parameters": {"epochs": 1, "engine": "torch", "random_state": 0}})
    (folder / "rows.npy").unlink()
    return folder


@needs_linux
@full_too
@pytest.mark.timeout(1800)
def test_predict_huge_bag_in_little_memory(trained):
    great = trained / "great"
    assert fits_into_memory(trained / "run", trained / "few", great, BOUND, "library", "command")
    with (trained / "predictions.csv").open(newline="", encoding="utf-8") as stream:
        (row,) = csv.DictReader(stream)
    assert row["n_instances"] == str(len(np.load(great / "instances.npy", mmap_mode="r")))
    assert 0 < float(row["probability 1"]) < 1


@needs_linux
@pytest.mark.parametrize("trained", [QUICK], indirect=True)
def test_memory_limit_stops_reading_the_whole_bag(trained):
    assert not fits_into_memory(trained / "run", trained / "few", trained / "great", BOUND, "read everything")
