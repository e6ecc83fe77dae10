"""Very small and very large bags: a single instance has weight 1.0; 1,000,000 instances are predicted in 32 MB."""

import csv

import numpy as np
import pytest
import torch

from bagwise.bags.bags import Bags
from bagwise.bags.folder import BagWriter
from bagwise.runs.execution import execute_run
from bagwise.training.inference import run_inference
from faults.memory_limit import can_predict_within, needs_linux
from sensible_models import every, model_of

BOUND = 32_000_000  # bytes
LARGE, HUGE = (150_000, 64), (1_000_000, 512)  # rows and features


@every
def test_run_inference_gives_the_only_instance_a_weight_of_exactly_one(case):
    rows = np.random.default_rng(0).normal(size=(40, 4)).astype(np.float32) * np.logspace(-6, 6, 40)[:, None]
    bags = Bags(rows.astype(np.float32), np.arange(41))
    for heads in (1, 3):
        assert (run_inference(model_of(case, heads), bags, torch.device("cpu")).weights == 1).all()


@pytest.fixture(scope="module")
def folder(request, tmp_path_factory):
    """Return a folder with a run, its training bags ("small"), and one bag of the given shape ("huge")."""
    n_rows, width = request.param
    folder = tmp_path_factory.mktemp("huge")
    generator = np.random.default_rng(0)
    with BagWriter(folder / "small") as writer:
        for number in range(20):
            writer.add(generator.normal(size=(600, width)).astype(np.float32), name=f"bag-{number}", label=number % 2)
    rows = np.lib.format.open_memmap(folder / "rows.npy", mode="w+", dtype=np.float32, shape=(n_rows, width))
    step = n_rows // 1000
    rows[::step] = generator.normal(size=(len(rows[::step]), width))  # the other rows are zeros and need no disk space
    with BagWriter(folder / "huge") as writer:
        writer.add(rows, name="huge", label=1)
    data = {"data": str(folder / "small"), "options": {}, "test": None}
    execute_run(folder / "run", {"data": data, "parameters": {"epochs": 1, "engine": "torch", "random_state": 0}})
    (folder / "rows.npy").unlink()
    return folder


@needs_linux
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("folder", [LARGE, pytest.param(HUGE, marks=pytest.mark.full)], indirect=True)
def test_predict_of_a_huge_bag_completes_in_little_memory(folder):
    assert can_predict_within(BOUND, folder / "run", folder / "small", folder / "huge", "library", "command")
    with (folder / "predictions.csv").open(newline="", encoding="utf-8") as stream:
        (row,) = csv.DictReader(stream)
    assert row["n_instances"] == str(len(np.load(folder / "huge" / "instances.npy", mmap_mode="r")))
    assert 0 < float(row["probability 1"]) < 1


@needs_linux
@pytest.mark.parametrize("folder", [LARGE], indirect=True)
def test_memory_limit_prevents_reading_all_instances_at_once(folder):
    assert not can_predict_within(BOUND, folder / "run", folder / "small", folder / "huge", "all at once")
