"""Bags larger than memory: time and memory of a prediction and of a training step, with streaming and in one pass.

    python benchmarks/huge_bags.py [ROWS.npy]      writes benchmarks/results/huge_bags.{md,csv}

The rows, 1,000,000 × 1024 float32, are random numbers in a file of 4.1 GB that is created once. Implementations:

    ours        the library's inference and training step: the file is read in pieces, and the result is exact
    whole       the same modules in one pass, with the whole autograd graph
    torchmil    ABMIL of torchmil 1.0.2 with the same parameters, if installed; it does not scale the features.
                Input: the memory-mapped rows or, as in its own data set, rows that were first read into memory
    products    only the matrix products of the same shapes, in pieces of the same size

All implementations must give the same score before they are timed in turn, in one process. Memory is measured in a
separate process for each implementation. Cases that would take more than 8 GB are omitted.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from statistics import median

import numpy as np
import torch
from torch import nn

from bagwise.bags import Bags
from bagwise.nn import (
    Preprocessing,
    Scaling,
    StreamPosition,
    arrange_embedding_level,
    initialize_weights,
    mlp,
    set_stream_position,
)
from bagwise.nn.pooling import GatedAttention
from bagwise.targets import Bernoulli
from bagwise.training import ROWS_AT_ONCE, bags_to_tensors, run_inference
from bagwise.training.streaming import PIECE, stream_scores
from peak_memory import peak
from writing_results import conditions, write

N_ROWS, WIDTH, WIDTHS, ATTENTION = 1_000_000, 1024, (512, 256), 128
SIZES = (10_000, 100_000, 1_000_000)
MOST_AT_ONCE = {"predict": 100_000, "train": 100_000}  # rows, for implementations that need the whole bag in memory
ROUNDS = {10_000: 9, 100_000: 3, 1_000_000: 1}
CPU = torch.device("cpu")


def rows_file(path):
    """Return the memory-mapped random rows; the file is written in pieces if it does not exist."""
    if not path.exists():
        temporary = path.with_suffix(".tmp")
        rows = np.lib.format.open_memmap(temporary, mode="w+", dtype=np.float32, shape=(N_ROWS, WIDTH))
        for start in range(0, N_ROWS, 20_000):
            rows[start : start + 20_000] = np.random.default_rng(start).standard_normal((20_000, WIDTH), np.float32)
        rows.flush()
        temporary.rename(path)
    return np.load(path, mmap_mode="r")


def bag_of(rows, size):
    return Bags.trusted(instances=rows[:size], offsets=np.array([0, size]))


def model_of():
    """Return gated attention with 1024 → 512 → 256, L = 128, after a scaling that has no effect."""
    scaling = Scaling(np.zeros(WIDTH), np.ones(WIDTH))
    encoder, pooling, head = (
        mlp((WIDTH,), WIDTHS, dropout=0.0),
        GatedAttention(WIDTHS[-1], ATTENTION),
        nn.Linear(256, 1),
    )
    for part in (encoder, pooling, head):
        initialize_weights(part, torch.Generator().manual_seed(1))
    return arrange_embedding_level(nn.Sequential(Preprocessing((WIDTH,), scaling), encoder), pooling, head)


def torchmil_of(model):
    """Return the torchmil model with the same parameters, or None if torchmil is not installed."""
    try:
        from torchmil.models import ABMIL
    except ImportError:
        return None
    peer = ABMIL((WIDTH,), att_dim=ATTENTION, gated=True, feat_ext=model.encoder[1][1:])  # without nn.Flatten
    pool = peer.pool
    with torch.no_grad():
        for own, theirs in ((model.pooling.V, pool.fc1), (model.pooling.U, pool.fc_gated), (model.pooling.w, pool.fc2)):
            inner = getattr(theirs, "module", theirs)
            inner.weight.copy_(own.weight)
            if inner.bias is not None:
                inner.bias.zero_()
        head = getattr(peer.classifier, "module", peer.classifier)
        head.weight.copy_(model.head.weight)
        head.bias.copy_(model.head.bias)
    return peer.eval()


def products(bag):
    shapes = [(WIDTH, WIDTHS[0]), WIDTHS, (WIDTHS[1], ATTENTION), (WIDTHS[1], ATTENTION), (ATTENTION, 1)]
    first, second, V, U, w = (torch.randn(shape) for shape in shapes)
    instances, _ = bags_to_tensors(bag, CPU)
    for rows in instances.split(ROWS_AT_ONCE):
        embeddings = (rows @ first) @ second
        (embeddings @ V) @ w
        embeddings @ U


def predicting(model):
    """Return the implementations of prediction, which map a bag to its score or None."""
    peer = torchmil_of(model)
    implementations = {
        "ours": lambda bag: run_inference(model, bag, CPU).scores.item(),
        "whole": lambda bag: model(*bags_to_tensors(bag, CPU)).scores.item(),
        "torchmil": peer and (lambda bag: peer(bags_to_tensors(bag, CPU)[0][None]).item()),
        "torchmil, np.load": peer and (lambda bag: peer(torch.from_numpy(np.array(bag.instances))[None]).item()),
        "products": products,
    }
    return {
        name: torch.inference_mode()(implementation)
        for name, implementation in implementations.items()
        if implementation is not None
    }


def training(model):
    """Return the implementations of training, which map a bag to the flattened gradient of its loss."""
    parameters = list(model.parameters())

    def step(scores_of, bag):
        model.train()
        set_stream_position(model, StreamPosition(1, 1))
        loss = Bernoulli().loss(scores_of(bag), torch.tensor([1])).sum()
        return torch.cat([gradient.ravel() for gradient in torch.autograd.grad(loss, parameters)])

    return {
        "ours": partial(step, lambda bag: stream_scores(model, bag, np.arange(1), CPU, PIECE)),
        "whole": partial(step, lambda bag: model(*bags_to_tensors(bag, CPU)).scores),
    }


TASKS = {"predict": predicting, "train": training}


def fits(task, implementation, size):
    return implementation in ("ours", "products") or size <= MOST_AT_ONCE[task]


def extra_memory(task, implementation, size, path):
    """Measure the extra memory (MB) of a separate process, after imports, model construction and one small bag."""
    command = [sys.executable, __file__, str(path), "--measure", json.dumps([task, implementation, size])]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def measure(rows, task, implementation, size):
    run = TASKS[task](model_of())[implementation]
    run(bag_of(rows, 1000))
    with peak() as found:
        run(bag_of(rows, size))
    print(found.extra / 1e6)


def seconds(run, bag):
    wall, processor = time.perf_counter(), time.process_time()
    run(bag)
    return time.perf_counter() - wall, time.process_time() - processor


def check(task, implementations, rows):
    """Check that all results agree with float64 within the precision of float32, and return the relative errors."""
    bag, exact, model = bag_of(rows, 20_000), bag_of(rows[:20_000].astype(np.float64), 20_000), model_of()
    whole = TASKS[task](model)["whole"]
    model.double()
    truth = np.asarray(whole(exact))
    errors = {}
    for name, run in implementations.items():
        if name != "products":
            errors[name] = float(np.linalg.norm(np.asarray(run(bag)) - truth) / np.linalg.norm(truth))
    if max(errors.values()) > 1e-4:
        sys.exit(f"{task}: the implementations do not agree with float64: {errors}")
    return errors


def compare(task, rows, path):
    """Return the rows of the table."""
    every = TASKS[task](model_of())
    errors = check(task, every, rows)
    for size in SIZES:
        implementations = {name: run for name, run in every.items() if fits(task, name, size)}
        bag = bag_of(rows, size)
        times = [{name: seconds(run, bag) for name, run in implementations.items()} for _ in range(ROUNDS[size])]
        for name in implementations:
            ratio = [median(found[name][kind] / found["ours"][kind] for found in times) for kind in (0, 1)]
            row = {
                "task": task,
                "instances": f"{size:,}",
                "implementation": name,
                "wall, s": f"{median(found[name][0] for found in times):.2f}",
                "processor, s": f"{median(found[name][1] for found in times):.2f}",
                "wall, against ours": f"{ratio[0]:.2f}×",
                "processor, against ours": f"{ratio[1]:.2f}×",
                "extra memory, MB": f"{extra_memory(task, name, size, path):,.0f}",
                "relative error against float64": f"{errors[name]:.0e}" if name in errors else "–",
            }
            print(row, flush=True)
            yield row


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("rows", nargs="?", type=Path, default=Path(tempfile.gettempdir()) / "bagwise_huge_bags.npy")
    parser.add_argument("--measure", type=json.loads, help=argparse.SUPPRESS)
    given = parser.parse_args()
    rows = rows_file(given.rows)
    if given.measure:
        measure(rows, *given.measure)
        return
    for start in range(0, N_ROWS, 20_000):  # load the file into the page cache, for all implementations
        rows[start : start + 20_000].max()
    found = [row for task in TASKS for row in compare(task, rows, given.rows)]
    text = (
        f"{conditions()}; bag of random rows × {WIDTH} float32 in a mapped file (in the page cache), gated attention, "
        f"{WIDTH} → {WIDTHS[0]} → {WIDTHS[1]}, L = {ATTENTION}, no dropout; medians of interleaved rounds "
        f"({', '.join(f'{ROUNDS[size]} for {size:,}' for size in SIZES)}). Memory is the peak RssAnon above that "
        "of the process after a small bag. The error is that of the score (predict) or of the gradient (train) for "
        "20,000 instances. Implementations that hold the whole bag are omitted where it would take more than 8 GB. "
        "Generated by `python benchmarks/huge_bags.py`."
    )
    write("huge_bags", "Huge bags", text, found)


if __name__ == "__main__":
    main()
