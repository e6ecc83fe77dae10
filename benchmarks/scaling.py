"""Two processes compared with one: training with torchrun, and a comparison with workers and with a Dask cluster.

    python benchmarks/scaling.py        needs bagwise[dask]

training      seconds of the epochs, without process start-up, on bags of features of the size of slides; one thread per
              process
comparison    seconds from the first fit to the last

The variants of each are run in turn, three times; the table shows medians and their ratios. The amount of data that
two processes exchange is computed from the number of parameters: each step sums one number per parameter.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from dask.distributed import LocalCluster
from safetensors.numpy import load_file

from bagwise.bags import Bags, save_bags
from bagwise.evaluation.comparison import compare_methods, make_plan
from bagwise.parallel import DaskCluster
from bagwise.runs import Run
from writing_results import conditions, write

# The tensors of a step take 16 MB. From 32 MB on, the system would allocate new pages each time, which processes with
# fewer rows avoid.
N_BAGS, MEAN_SIZE, WIDTH = 144, 1000, 512
TIMES = 3
TRAIN = ("--epochs", "3", "--batch-size", "8", "--engine", "torch", "--encoder", "projection", "--seed", "1", "--quiet")
PLAN = make_plan("musk1", {"attention": {"epochs": 15, "engine": "torch"}}, folds=10)


def make_bags(folder):
    """Save bags of different sizes."""
    draws = np.random.default_rng(0)
    sizes = draws.integers(MEAN_SIZE // 4, 7 * MEAN_SIZE // 4, N_BAGS)
    bags = [draws.normal(0.05 * (number % 2), 1, (size, WIDTH)).astype(np.float32) for number, size in enumerate(sizes)]
    save_bags(Bags.from_list(bags, labels=np.arange(N_BAGS) % 2), folder)


def train_seconds(bags, run, n_processes):
    """Train, and return the seconds of the epochs and the number of parameters."""
    start = [sys.executable, "-m"]
    if n_processes > 1:
        start += ["torch.distributed.run", f"--nproc-per-node={n_processes}", "-m"]
    command = [*start, "bagwise", "train", str(bags), str(run), "--test", "0.1", *TRAIN]
    subprocess.run(command, check=True, env={**os.environ, "OMP_NUM_THREADS": "1"}, capture_output=True)
    weights = sum(value.size for value in load_file(run / "model" / "model.safetensors").values())
    return sum(row["seconds"] for row in Run(run).history), weights


def compare_seconds(folder, workers):
    began = time.perf_counter()
    compare_methods(folder, PLAN, workers=workers)
    return time.perf_counter() - began


def row(what, one, two):
    one, two = statistics.median(one), statistics.median(two)
    return {"what": what, "one": f"{one:.1f} s", "two": f"{two:.1f} s", "faster by": f"{one / two:.2f}×"}


def main():
    with tempfile.TemporaryDirectory() as place:
        folder, times = Path(place), {1: [], 2: []}
        make_bags(folder / "bags")
        for repeat in range(TIMES):
            for n_processes, found in times.items():
                seconds, weights = train_seconds(folder / "bags", folder / f"run-{n_processes}-{repeat}", n_processes)
                found.append(seconds)
                print(f"training, {n_processes} processes: {seconds:.1f} s", flush=True)
        workers = {1: [], 2: [], "dask": []}
        with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0") as local:
            choices = {1: 1, 2: 2, "dask": DaskCluster(local.scheduler_address)}
            for repeat in range(TIMES):
                for name, choice in choices.items():
                    workers[name].append(compare_seconds(folder / f"compare-{name}-{repeat}", choice))
                    print(f"comparison, {name}: {workers[name][-1]:.1f} s", flush=True)
    rows = [
        row(f"training, {N_BAGS} bags of about {MEAN_SIZE:,} × {WIDTH}, 8 per step, three epochs", times[1], times[2]),
        row("comparison of 10 fits on musk1, workers", workers[1], workers[2]),
        row("comparison of 10 fits on musk1, Dask", workers[1], workers["dask"]),
    ]
    text = f"Each training step sums {weights:,} numbers ({4 * weights / 1e6:.1f} MB) over the processes."
    write("scaling", "Two processes compared with one", f"{text}\n\n{conditions('one thread per process')}", rows)


if __name__ == "__main__":
    main()
