"""Speed of the reductions within bags, as ratios in one run: a loop over bags and torch.segment_reduce against ours.

    python benchmarks/segments.py        writes benchmarks/results/segments.md

Each way is checked against a loop in float64 first, then all are timed in turn, so that a busy machine slows all alike;
the median is taken, forward and backward.
"""

import platform
import statistics
import time
from pathlib import Path

import torch

from bagwise import segments

LAYOUTS = {
    "1 bag of 1,000,000 rows × 64": (1, 1_000_000, 64),
    "10,000 bags of 5 rows × 64": (10_000, 5, 64),
    "1 bag of 10 rows × 64": (1, 10, 64),
    "8 bags of 10 rows × 500": (8, 10, 500),
}
ROUNDS = 7
RESULT = Path(__file__).parent / "results" / "segments.md"


def looped(reduce):
    """One dense reduction a bag."""
    return lambda values, offsets: torch.stack([reduce(bag) for bag in values.split(offsets.diff().tolist())])


def library(name):
    """torch's own segmented reduction."""
    return lambda values, offsets: torch.segment_reduce(values, name, offsets=offsets, axis=0)


WAYS = {
    "sum": {"ours": segments.sum, "loop": looped(lambda bag: bag.sum(0)), "segment_reduce": library("sum")},
    "max": {"ours": segments.max, "loop": looped(lambda bag: bag.amax(0)), "segment_reduce": library("max")},
    "log_sum_exp": {"ours": segments.log_sum_exp, "loop": looped(lambda bag: bag.logsumexp(0))},
}


def seconds(way, values, offsets, repeats):
    """Time of one forward and backward pass."""
    started = time.perf_counter()
    for _ in range(repeats):
        values.grad = None
        way(values, offsets).sum().backward()
    return (time.perf_counter() - started) / repeats


def measure(ways, values, offsets):
    """Median seconds of every way, timed in turn."""
    reference = ways["loop"](values.detach().double(), offsets)
    for name, way in ways.items():
        torch.testing.assert_close(way(values.detach(), offsets).double(), reference, rtol=1e-3, atol=1e-3, msg=name)
    once = {name: seconds(way, values, offsets, 1) for name, way in ways.items()}
    repeats = {name: max(1, int(0.05 / spent)) for name, spent in once.items()}
    rounds = [{name: seconds(way, values, offsets, repeats[name]) for name, way in ways.items()} for _ in range(ROUNDS)]
    return {name: statistics.median(found[name] for found in rounds) for name in ways}


def ratio(found, name):
    """How many times longer another way takes than ours."""
    return f"{found[name] / found['ours']:.1f}×" if name in found else "–"


def main():
    torch.manual_seed(0)
    lines = [
        "# Reductions within bags",
        "",
        f"torch {torch.__version__}, {torch.get_num_threads()} threads, {platform.machine()}; float32, forward and "
        f"backward, median of {ROUNDS} interleaved rounds. Made by `python benchmarks/segments.py`.",
        "",
        "| reduction | layout | ours, µs | loop over bags | torch.segment_reduce |",
        "| --- | --- | ---: | ---: | ---: |",
    ]
    for layout, (n_bags, size, width) in LAYOUTS.items():
        offsets = torch.arange(0, n_bags * size + 1, size)
        values = torch.randn(n_bags * size, width, requires_grad=True)
        for reduction, ways in WAYS.items():
            found = measure(ways, values, offsets)
            ratios = [
                f"{found[name] / found['ours']:.1f}×" if name in found else "–" for name in ("loop", "segment_reduce")
            ]
            lines.append(f"| {reduction} | {layout} | {found['ours'] * 1e6:,.0f} | {ratios[0]} | {ratios[1]} |")
            print(lines[-1])
    RESULT.parent.mkdir(exist_ok=True)
    RESULT.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
