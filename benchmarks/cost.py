"""What a prediction costs by size of the bag, number of bags and width, with the machine's own limits drawn in.

    python benchmarks/cost.py            writes benchmarks/results/cost.{csv,md,png}

The network is 512-256 with gated attention of 128 units. Two limits are measured in the same run: how many products a
second the machine makes in a matrix product of the same kind, and how many bytes a second it reads. No prediction can
be faster than its products and its bytes allow.
"""

import os

os.environ["OMP_NUM_THREADS"] = "1"

import statistics
import time

import matplotlib.pyplot as plt
import numpy as np
import torch
from torch import nn

from bagwise.bags import Bags
from bagwise.models import embedding_level
from bagwise.pooling import POOLINGS, Settings
from bagwise.training import infer
from writing_results import FOLDER, conditions, write

HIDDEN, EMBEDDING, L = 512, 256, 128
SIZES = (10, 30, 100, 300, 1000, 3000, 10_000, 30_000)
COUNTS = (1, 3, 10, 30, 100, 300, 1000)
WIDTHS = (64, 128, 256, 512, 1024, 2048)
ROUNDS = 5


def model(width):
    torch.manual_seed(0)
    encoder = nn.Sequential(nn.Linear(width, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, EMBEDDING), nn.ReLU())
    pooling = POOLINGS["gated attention"].for_embeddings(EMBEDDING, Settings(L, 1))
    return embedding_level(encoder, pooling, nn.Linear(EMBEDDING, 1)).eval()


def products(n_rows, width):
    """Multiplications with additions of one pass over so many rows."""
    return n_rows * (width * HIDDEN + HIDDEN * EMBEDDING + 2 * EMBEDDING * L + L + EMBEDDING)


def times(work, rounds):
    work()
    for _ in range(rounds):
        started = time.process_time()
        work()
        yield time.process_time() - started


def limits():
    """Products and bytes a second, the most that was seen: a limit is what nothing exceeds."""
    large, rates = torch.randn(1 << 25), []
    for n_rows, width in ((512, 1024), (4096, 512), (4096, 2048)):
        rows, weights = torch.randn(n_rows, width), torch.randn(width, HIDDEN)
        rates.append(n_rows * width * HIDDEN / min(times(lambda a=rows, b=weights: a @ b, 30)))
    return max(rates), large.nbytes / min(times(large.sum, 10))


def measure(along, n_bags, size, width):
    rows = np.random.default_rng(0).standard_normal((n_bags * size, width), dtype=np.float32)
    bags, network = Bags(rows, np.arange(0, len(rows) + 1, size)), model(width)
    spent = statistics.median(times(lambda: infer(network, bags, torch.device("cpu")), ROUNDS))
    return {"along": along, "bags": n_bags, "instances a bag": size, "width": width, "seconds": spent}


def main():
    torch.set_num_threads(1)
    rate, bandwidth = limits()
    rows = [measure("instances a bag", 1, size, 512) for size in SIZES]
    rows += [measure("bags", count, 50, 512) for count in COUNTS]
    rows += [measure("width", 1, 3000, width) for width in WIDTHS]
    for row in rows:
        n_rows = row["bags"] * row["instances a bag"]
        row["least by products"] = products(n_rows, row["width"]) / rate
        row["least by bytes"] = 4 * n_rows * row["width"] / bandwidth
    draw(rows)
    words = (
        f"{conditions()}. Limits found in the same run: {rate / 1e9:.1f} · 10⁹ products and {bandwidth / 1e9:.1f} · "
        f"10⁹ bytes a second. Medians of {ROUNDS} predictions, processor time. Made by `python benchmarks/cost.py`; "
        "see cost.png."
    )
    shown = [
        {name: f"{value:.2e}" if isinstance(value, float) else value for name, value in row.items()} for row in rows
    ]
    write("cost", "What a prediction costs", words, shown)


def draw(rows):
    figure, axes = plt.subplots(1, 3, figsize=(12, 3.6), layout="constrained")
    for axis, along in zip(axes, ("instances a bag", "bags", "width"), strict=True):
        own = [row for row in rows if row["along"] == along]
        places = [row[along] for row in own]
        axis.loglog(places, [row["seconds"] for row in own], "o-", color="#0072b2", label="bagwise")
        axis.loglog(places, [row["least by products"] for row in own], "--", color="#d55e00", label="limit: products")
        axis.loglog(places, [row["least by bytes"] for row in own], ":", color="#57606a", label="limit: bytes read")
        axis.set(xlabel=along, ylabel="seconds", title=_fixed(own[0], along))
        axis.grid(which="major", color="#dde1e6")
    axes[0].legend(frameon=False)
    figure.savefig(FOLDER / "cost.png", dpi=120)


def _fixed(row, along):
    return ", ".join(f"{name}: {row[name]:,}" for name in ("bags", "instances a bag", "width") if name != along)


if __name__ == "__main__":
    main()
