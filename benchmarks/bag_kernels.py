"""Kernels between bags: time and memory for 2,000 bags, and the ratio to double loops over bags in the same run.

    OMP_NUM_THREADS=1 python benchmarks/bag_kernels.py        writes benchmarks/results/bag_kernels.md

Seconds are those of the processor, so that a busy machine does not show; hence one thread. The whole kernel is computed
in a process of its own, whose peak memory is set beside that of a process that only draws the bags. The ratios are
taken on a part of the bags: every way is checked against the others first, then all are timed in turn, and the median
is taken. The loops do the same work: each pair of bags once, masses given.
"""

import json
import platform
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import torch
from scipy.spatial.distance import cdist

from bagwise.bags import Bags
from bagwise.estimators.kernels.bag_kernels import BLOCK, gram
from bagwise.estimators.kernels.graph_kernel import SupportGraphs
from bagwise.estimators.kernels.set_kernel import SupportSets

N_BAGS, FEWEST, MOST, WIDTH, GAMMA = 2_000, 20, 50, 100, 0.01
PART, ROUNDS = 200, 5
KERNELS = {"MI-Kernel": SupportSets, "mi-Graph": SupportGraphs}
RESULT = Path(__file__).parent / "results" / "bag_kernels.md"


def draw(n_bags):
    """Bags of standard normal instances."""
    draws = np.random.default_rng(0)
    sizes = draws.integers(FEWEST, MOST, size=n_bags, endpoint=True)
    return Bags(draws.normal(size=(sizes.sum(), WIDTH)), np.concatenate([[0], np.cumsum(sizes)]))


def by_differences(bag, other):
    return np.exp(-GAMMA * cdist(bag, other, "sqeuclidean"))


def by_product(bag, other):
    squares = (bag**2).sum(axis=1)[:, None] + (other**2).sum(axis=1)
    return np.exp(GAMMA * (2 * bag @ other.T - squares))


def looped(kernel):
    """One pair of bags after the other."""

    def way(bags, masses):
        rows, own = list(bags), np.split(masses, bags.offsets[1:-1])
        total = np.zeros((len(rows), len(rows)))
        for i, bag in enumerate(rows):
            for j in range(i, len(rows)):
                total[i, j] = total[j, i] = own[i] @ kernel(bag, rows[j]) @ own[j]
        return total

    return way


WAYS = {
    "ours": lambda bags, masses: gram(bags, masses, GAMMA),
    "product": looped(by_product),
    "differences": looped(by_differences),
}


def seconds(way, *given):
    started = time.process_time()
    way(*given)
    return time.process_time() - started


def ratios():
    """How many times longer the loops take than ours, on a part of the bags."""
    bags = draw(PART)
    masses = SupportSets.masses(bags, GAMMA)
    expected = WAYS["differences"](bags, masses)
    for way in WAYS.values():
        np.testing.assert_allclose(way(bags, masses), expected, rtol=1e-10)
    rounds = [{name: seconds(way, bags, masses) for name, way in WAYS.items()} for _ in range(ROUNDS)]
    medians = {name: statistics.median(found[name] for found in rounds) for name in WAYS}
    return {name: medians[name] / medians["ours"] for name in WAYS}


def alone(name):
    """In this process: draw all bags, compute the named kernel if it is one, and tell what it took."""
    bags = draw(N_BAGS)
    spent = {}
    if kind := KERNELS.get(name):
        started = time.process_time()
        masses = kind.masses(bags, GAMMA)
        spent["masses"] = time.process_time() - started
        spent["kernel"] = seconds(gram, bags, masses, GAMMA)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024  # Linux counts in kB
    print(json.dumps({"instances": bags.n_instances, "peak": peak, **spent}))


def measured(name):
    """The same in a process of its own."""
    done = subprocess.run([sys.executable, __file__, name], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def main():
    before = measured("no kernel")
    pairs = before["instances"] ** 2 * 8 / 1e9
    lines = [
        "# Kernels between bags",
        "",
        f"torch {torch.__version__}, {torch.get_num_threads()} thread(s), {platform.machine()}; float64. "
        f"{N_BAGS:,} bags of {FEWEST} to {MOST} instances × {WIDTH} features, {before['instances']:,} instances: all "
        f"pairs of them at once would take {pairs:.0f} GB; blocks of {BLOCK:,} × {BLOCK:,} pairs are alive here. "
        "Seconds of the processor. Made by `OMP_NUM_THREADS=1 python benchmarks/bag_kernels.py`.",
        "",
        "| kernel | masses, s | kernel, s | peak memory above that of the bags alone, MB |",
        "| --- | ---: | ---: | ---: |",
    ]
    for name in KERNELS:
        found = measured(name)
        above = found["peak"] - before["peak"]
        lines.append(f"| {name} | {found['masses']:.1f} | {found['kernel']:.1f} | {above:.0f} |")
        print(lines[-1])
    found = ratios()
    lines += [
        "",
        f"The kernel itself takes {N_BAGS**2 * 8 / 1e6:.0f} MB. The process of the bags alone peaks at "
        f"{before['peak']:.0f} MB.",
        "",
        f"On {PART} of the bags, median of {ROUNDS} interleaved rounds, a double loop over bags takes "
        f"{found['product']:.1f} times as long as ours with distances by a matrix product, and "
        f"{found['differences']:.1f} times with scipy's cdist.",
    ]
    print(lines[-1])
    RESULT.parent.mkdir(exist_ok=True)
    RESULT.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    alone(sys.argv[1]) if len(sys.argv) > 1 else main()
