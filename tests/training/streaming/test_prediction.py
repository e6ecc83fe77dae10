"""A bag in pieces is predicted as the bag whole."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from bagwise.bags import Bags
from bagwise.inputs import Prepare, Scaling
from bagwise.training.streaming import prediction
from bagwise.training.streaming.prediction import streamed_prediction
from sensible_models import every, model_of

CPU = torch.device("cpu")
ROWS = np.random.default_rng(3).normal(size=(15, 4))


def whole(model, rows):
    return model(torch.from_numpy(rows), torch.tensor([0, len(rows)]))


def in_pieces(model, rows, most):
    with torch.inference_mode():
        return streamed_prediction(model, Bags.from_list([rows]), CPU, most)


@every
@pytest.mark.parametrize("heads", [1, 2])
@pytest.mark.parametrize("most", [1, 2, 7, 15])
def test_pieces_give_the_scores_and_weights_of_the_whole(case, heads, most):
    model = model_of(case, heads).double().eval()
    expected, found = whole(model, ROWS), in_pieces(model, ROWS, most)
    torch.testing.assert_close(found.scores, expected.scores, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(found.weights, expected.weights, rtol=1e-12, atol=1e-14)


@every
def test_weights_that_were_not_kept_are_computed_again(case, monkeypatch):
    model = model_of(case, heads=2).double().eval()
    expected = in_pieces(model, ROWS, 4)
    monkeypatch.setattr(prediction, "FEW", 0)
    again = in_pieces(model, ROWS, 4)
    torch.testing.assert_close(again.weights, expected.weights, rtol=0, atol=0)


@every
def test_the_only_instance_weighs_exactly_one(case):
    weights = in_pieces(model_of(case, heads=2).eval(), ROWS[:1].astype(np.float32), 3).weights
    assert (weights == 1).all()


@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
@pytest.mark.parametrize("pooling", ["gated attention", "max", "noisy-or"])
def test_images_go_through_a_convolutional_encoder(pooling, dtype):
    level = "instance" if pooling == "noisy-or" else "embedding"
    model = model_of((pooling, level, "bernoulli"), shape=(16, 16), encoder="lenet").eval()
    images = np.random.default_rng(0).integers(0, 256, (9, 16, 16)).astype(dtype)
    prepare = Prepare((16, 16), Scaling(np.zeros(1), np.full(1, 255.0)))
    model.encoder = nn.Sequential(prepare, model.encoder)
    found, expected = in_pieces(model, images, 4), whole(model, images)
    torch.testing.assert_close(found.scores, expected.scores, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(found.weights, expected.weights, rtol=1e-4, atol=1e-6)


MEASURED = """
import sys, threading, time
import numpy as np, torch
from bagwise.bags import Bags
from bagwise.models import assemble
from bagwise.likelihoods import Bernoulli
from bagwise.pooling import Settings
from bagwise.training.inference import infer

def anonymous():
    lines = open("/proc/self/status").read().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("RssAnon")) * 1024

path, way = sys.argv[1:]
rows = np.load(path, mmap_mode="r")
bag = Bags.trusted(instances=rows, offsets=np.array([0, len(rows)]))
model = assemble((rows.shape[1],), Bernoulli(), encoder="mlp", pooling="gated attention", level="embedding", dropout=0,
                 settings=Settings(), generator=torch.Generator().manual_seed(0)).eval()
run = {"in pieces": lambda bag: infer(model, bag, torch.device("cpu")),
       "whole": lambda bag: model(torch.from_numpy(np.array(bag.instances)), torch.from_numpy(bag.offsets.copy()))}[way]
torch.set_num_threads(1)
with torch.inference_mode():
    run(Bags.trusted(instances=rows[:500], offsets=np.array([0, 500])))
    base, peak, done = anonymous(), 0, False
    def watch():
        global peak
        while not done:
            peak = max(peak, anonymous())
            time.sleep(0.001)
    watcher = threading.Thread(target=watch)
    watcher.start()
    run(bag)
    done = True
    watcher.join()
print(peak - base)
"""


def anonymous_memory(path, way):
    """Bytes that a prediction takes at most, in a process of its own; pages of the mapped file do not count."""
    command = [sys.executable, "-c", MEASURED, str(path), way]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    return int(subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout)


def mapped_rows(path, n_rows, width):
    rows = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(n_rows, width))
    for start in range(0, n_rows, 10_000):
        rows[start : start + 10_000] = np.random.default_rng(start).random((len(rows[start : start + 10_000]), width))
    rows.flush()


needs_proc = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc")


@needs_proc
def test_memory_stays_below_what_the_whole_bag_takes(tmp_path):
    mapped_rows(tmp_path / "rows.npy", 60_000, 64)
    bound = 24e6
    assert (
        anonymous_memory(tmp_path / "rows.npy", "in pieces") < bound < anonymous_memory(tmp_path / "rows.npy", "whole")
    )


@needs_proc
@pytest.mark.full
def test_memory_does_not_grow_with_a_bag_of_a_million(tmp_path):
    mapped_rows(tmp_path / "rows.npy", 1_000_000, 1024)
    assert anonymous_memory(tmp_path / "rows.npy", "in pieces") < 32e6
