"""Reading bags for an epoch: our mapped folder against a DataLoader over one h5 file a bag.

    python benchmarks/reading.py      writes benchmarks/results/reading.{md,csv}

The h5 files are laid out as feature extractors write them: one data set "features", in chunks of one row (as CLAM
does) or in one block. An epoch visits all bags in a new random order and adds up all their numbers, so that
every row is truly read; the sum must be the same for all, and what it costs by itself is shown. All files are in the
page cache.
"""

import tempfile
import time
from pathlib import Path
from statistics import median

import h5py
import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

from bagwise.bags import Bags
from bagwise.storage import load_bags, save_bags
from bagwise.training.batches import tensors
from writing_results import conditions, write

WIDTH, ROUNDS = 1024, 5
LAYOUTS = {2000: 50, 100: 500}  # rows a bag: bags


class Files(Dataset):
    """One h5 file a bag."""

    def __init__(self, paths):
        self.paths = paths

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, bag):
        with h5py.File(self.paths[bag]) as file:
            return torch.from_numpy(file["features"][:])


def write_files(bags, folder, chunks):
    folder.mkdir()
    paths = [folder / f"{bag}.h5" for bag in range(len(bags))]
    for path, rows in zip(paths, bags, strict=True):
        with h5py.File(path, "w") as file:
            file.create_dataset("features", data=rows, chunks=chunks)
    return paths


def mapped(folder):
    bags = load_bags(folder)

    def epoch():
        order = np.random.default_rng().permutation(len(bags))
        return sum(float(tensors(bags[[bag]], torch.device("cpu"))[0].sum()) for bag in order)

    return epoch


def loader(paths, workers):
    batches = DataLoader(Files(paths), batch_size=1, shuffle=True, num_workers=workers)
    return lambda: sum(float(rows.sum()) for rows in batches)


def seconds(epoch):
    started = time.perf_counter()
    total = epoch()
    return time.perf_counter() - started, total


def compare(size, n_bags, folder):
    rows = np.random.default_rng(0).random((size * n_bags, WIDTH), dtype=np.float32)
    bags = Bags(rows, np.arange(0, len(rows) + 1, size))
    save_bags(bags, folder / "bags")
    rowwise = write_files(bags, folder / "rowwise", (1, WIDTH))
    block = write_files(bags, folder / "block", None)
    parts = np.split(rows, n_bags)
    ways = {
        "ours: mapped folder": mapped(folder / "bags"),
        "adding up alone, rows in memory": lambda: sum(float(torch.from_numpy(part).sum()) for part in parts),
        "h5 in chunks of a row": loader(rowwise, 0),
        "h5 in chunks of a row, 2 workers": loader(rowwise, 2),
        "h5 in one block": loader(block, 0),
        "h5 in one block, 2 workers": loader(block, 2),
    }
    times = [{name: seconds(epoch) for name, epoch in ways.items()} for _ in range(ROUNDS)]
    for name in ways:
        assert np.allclose([found[name][1] for found in times], rows.sum(dtype=np.float64), rtol=1e-5), name
        ratio = median(found[name][0] / found["ours: mapped folder"][0] for found in times)
        row = {
            "rows a bag": f"{size:,}",
            "bags": n_bags,
            "way": name,
            "an epoch, s": f"{median(found[name][0] for found in times):.3f}",
            "against ours": f"{ratio:.1f}×",
        }
        print(row, flush=True)
        yield row


def main():
    torch.set_num_threads(1)  # to read is one thread's work
    found = []
    for size, n_bags in LAYOUTS.items():
        with tempfile.TemporaryDirectory() as folder:
            found += compare(size, n_bags, Path(folder))
    text = (
        f"{conditions(f'h5py {h5py.__version__}')}; rows of {WIDTH} float32, one bag a step in random order, every "
        f"number added up; medians of {ROUNDS} interleaved epochs, files in the page cache. "
        "Made by `python benchmarks/reading.py`."
    )
    write("reading", "Reading bags", text, found)


if __name__ == "__main__":
    main()
