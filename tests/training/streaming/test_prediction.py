"""A bag that is predicted in pieces has the scores and weights of the whole bag, in bounded memory."""

import os
import subprocess
import sys

import numpy as np
import pytest
import torch
from torch import nn

from bagwise.bags.bags import Bags
from bagwise.nn.preprocessing import Preprocessing, Scaling
from bagwise.training.streaming import prediction
from bagwise.training.streaming.prediction import stream_prediction
from sensible_models import every, model_of

CPU = torch.device("cpu")
ROWS = np.random.default_rng(3).normal(size=(15, 4))


def predict_whole(model, rows):
    return model(torch.from_numpy(rows), torch.tensor([0, len(rows)]))


def predict_in_pieces(model, rows, max_rows):
    with torch.inference_mode():
        return stream_prediction(model, Bags.from_list([rows]), CPU, max_rows)


@every
@pytest.mark.parametrize(
    ("heads", "max_rows"),
    [pytest.param(1, 1, marks=pytest.mark.full), (2, 2), (1, 7), pytest.param(2, 15, marks=pytest.mark.full)],
)
def test_stream_prediction_gives_scores_and_weights_of_the_whole_bag(case, heads, max_rows):
    model = model_of(case, heads).double().eval()
    expected, found = predict_whole(model, ROWS), predict_in_pieces(model, ROWS, max_rows)
    torch.testing.assert_close(found.scores, expected.scores, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(found.weights, expected.weights, rtol=1e-12, atol=1e-14)


@every
def test_stream_prediction_without_stored_exponents_computes_the_same_weights(case, monkeypatch):
    model = model_of(case, heads=2).double().eval()
    expected = predict_in_pieces(model, ROWS, 4)
    monkeypatch.setattr(prediction, "MAX_STORED_EXPONENTS", 0)
    again = predict_in_pieces(model, ROWS, 4)
    torch.testing.assert_close(again.weights, expected.weights, rtol=0, atol=0)


@every
def test_stream_prediction_gives_the_only_instance_a_weight_of_exactly_one(case):
    weights = predict_in_pieces(model_of(case, heads=2).eval(), ROWS[:1].astype(np.float32), 3).weights
    assert (weights == 1).all()


@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
@pytest.mark.parametrize("pooling", ["gated attention", "max", "noisy-or"])
def test_stream_prediction_of_images_uses_a_convolutional_encoder(pooling, dtype):
    level = "instance" if pooling == "noisy-or" else "embedding"
    model = model_of((pooling, level, "bernoulli"), shape=(16, 16), encoder="lenet").eval()
    images = np.random.default_rng(0).integers(0, 256, (9, 16, 16)).astype(dtype)
    preprocess = Preprocessing((16, 16), Scaling(np.zeros(1), np.full(1, 255.0)))
    model.encoder = nn.Sequential(preprocess, model.encoder)
    found, expected = predict_in_pieces(model, images, 4), predict_whole(model, images)
    torch.testing.assert_close(found.scores, expected.scores, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(found.weights, expected.weights, rtol=1e-4, atol=1e-6)


PREDICTION = """
import resource, sys
import numpy as np, torch
from bagwise.bags import Bags
from bagwise.nn import build_bag_model
from bagwise.nn.pooling import PoolingSettings
from bagwise.targets.class_likelihoods import Bernoulli
from bagwise.training import run_inference

def get_data_size():
    lines = open("/proc/self/status").read().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmData")) * 1024

path, way, bound = sys.argv[1], sys.argv[2], int(sys.argv[3])
torch.set_num_threads(1)
rows = np.load(path, mmap_mode="r")
model = build_bag_model(
    (rows.shape[1],), Bernoulli(), encoder="mlp", pooling="gated attention", level="embedding", dropout=0,
    settings=PoolingSettings(), generator=torch.Generator().manual_seed(0),
).eval()

def predict(rows):
    if way == "in pieces":
        run_inference(model, Bags.trusted(instances=rows, offsets=np.array([0, len(rows)])), torch.device("cpu"))
    else:
        model(torch.from_numpy(np.array(rows)), torch.tensor([0, len(rows)]))

with torch.inference_mode():
    predict(rows[:1500])
    resource.setrlimit(resource.RLIMIT_DATA, (get_data_size() + bound,) * 2)
    try:
        predict(rows)
    except (MemoryError, RuntimeError) as error:
        if not isinstance(error, MemoryError) and "memory" not in str(error):
            raise
        print("out of memory")
    else:
        print("completed")
"""


def predict_with_memory_limit(path, way, bound):
    """Predict a memory-mapped bag in a process that may allocate at most ``bound`` more bytes after a warm-up."""
    command = [sys.executable, "-c", PREDICTION, str(path), way, str(bound)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout.strip()


def write_rows(path, n_rows, width):
    rows = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(n_rows, width))
    for start in range(0, n_rows, 10_000):
        rows[start : start + 10_000] = np.random.default_rng(start).random((len(rows[start : start + 10_000]), width))
    rows.flush()


needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="RLIMIT_DATA covers all allocations on Linux only")


@needs_linux
def test_run_inference_of_a_large_bag_completes_in_memory_that_the_whole_bag_exceeds(tmp_path):
    write_rows(tmp_path / "rows.npy", 60_000, 64)
    assert predict_with_memory_limit(tmp_path / "rows.npy", "in pieces", 24_000_000) == "completed"
    assert predict_with_memory_limit(tmp_path / "rows.npy", "whole", 24_000_000) == "out of memory"


@needs_linux
@pytest.mark.full
def test_run_inference_of_a_million_instances_completes_in_little_memory(tmp_path):
    write_rows(tmp_path / "rows.npy", 1_000_000, 1024)
    assert predict_with_memory_limit(tmp_path / "rows.npy", "in pieces", 32_000_000) == "completed"
