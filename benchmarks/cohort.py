"""Training on a memory-mapped folder of slides: time per epoch, disk reads and private memory, old and new version.

    git worktree add /tmp/before COMMIT
    python benchmarks/cohort.py --before /tmp/before/src [--folder /tmp] [--bags 200]
                                                              writes benchmarks/results/cohort.{md,csv}

The folder has bags of 5,000 × 1,024 random float16 rows, and 20 % of the bags are held out at random, as
`bagwise train` does by default. The network is the default one with gated attention, one bag per step. Every
measurement is a process of its own:

    warm    all files are in the page cache; the time is that of the second epoch
    cold    the instances are dropped from the page cache; the time is that of the first epoch, without standardisation,
            so that nothing was read before
    read    the instances are dropped from the page cache and read from start to end, with nothing else

The processor time depends little on what else the machine does. Private memory is the peak of VmData above that of the
warmed-up process, sampled every millisecond.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from pathlib import Path
from statistics import median

SIZE, WIDTH = 5_000, 1_024
SHARE = 0.2  # of the bags held out


def make_folder(folder, n_bags):
    import numpy as np

    from bagwise.bags import BagWriter

    generator = np.random.default_rng(0)
    with BagWriter(folder) as writer:
        for bag in range(n_bags):
            rows = generator.normal(size=(SIZE, WIDTH), loc=0.01 * (bag % 2)).astype(np.float16)
            writer.add(rows, name=f"slide-{bag}", label=bag % 2)


def drop_from_cache(path):
    handle = os.open(path, os.O_RDONLY)
    os.fsync(handle)
    os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(handle)


def read_all(path):
    """Return the seconds of reading a file from start to end, in pieces of 8 MB."""
    drop_from_cache(path)
    started = time.perf_counter()
    with path.open("rb", buffering=0) as stream:
        while stream.read(1 << 23):
            pass
    return time.perf_counter() - started


def get_private_bytes():
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("VmData"))


class Peak(threading.Thread):
    """Samples the private memory until it is stopped."""

    def __init__(self):
        super().__init__(daemon=True)
        self.value, self.is_running = 0, True

    def run(self):
        while self.is_running:
            self.value = max(self.value, get_private_bytes())
            time.sleep(0.001)


def measure(kind, folder):
    """Train in this process, and print the seconds of the epoch, the gigabytes of training bags and the memory."""
    from bagwise import BagClassifier, Bags, load_bags
    from bagwise.bags import hold_out
    from bagwise.training import TrainingProgress

    class Clock(TrainingProgress):
        """Records the clock and the processor time at the end of every epoch."""

        def __init__(self):
            self.times = [(time.perf_counter(), time.process_time())]

        def epoch(self, record):
            self.times.append((time.perf_counter(), time.process_time()))

    warnings.simplefilter("ignore")
    is_cold = kind == "cold"
    scaling = "none" if is_cold else "standard"
    settings = {"scaling": scaling, "epochs": 1 if is_cold else 2, "random_state": 0, "engine": "torch"}
    small = load_bags(folder)[:4]
    small = Bags(small.instances.copy(), small.offsets, labels=small.labels)
    BagClassifier(**settings).fit(small, small.labels)  # warm-up
    del small
    if is_cold:
        drop_from_cache(folder / "instances.npy")
    before, peak = get_private_bytes(), Peak()
    peak.start()
    clock = Clock()
    bags = load_bags(folder)
    kept, _ = hold_out(bags.labels, None, SHARE, seed=0)
    training = bags[kept]
    BagClassifier(**settings).fit(training, training.labels, progress=clock)
    peak.is_running = False
    peak.join()
    (start, cpu_start), (end, cpu_end) = clock.times[-2:]  # a cold epoch includes loading: the old version reads then
    result = {"epoch": end - start, "cpu": cpu_end - cpu_start, "total": end - clock.times[0][0]}
    result |= {"GB": training.n_instances * WIDTH * 2 / 1e9, "MB": (peak.value - before) / 1e6}
    print(json.dumps(result))


def run(source, kind, folder):
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "1", "PYTHONPATH": str(source)}
    command = [sys.executable, __file__, "--measure", kind, "--folder", str(folder)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout)


def compare(before, folder, n_bags, n_rounds):
    from writing_results import conditions, write

    make_folder(folder, n_bags)
    sources = {"before": before, "now": Path(__file__).parents[1] / "src"}
    found = {(version, kind): [] for kind in ("warm", "cold") for version in sources}
    reads = []
    for _ in range(n_rounds):
        reads.append(read_all(folder / "instances.npy"))
        for version, kind in found:
            found[version, kind].append(run(sources[version], kind, folder))
    size = (folder / "instances.npy").stat().st_size / 1e9
    rows = [
        {
            "version": version,
            "page cache": kind,
            "training bags [GB]": f"{results[0]['GB']:.2f}",
            "seconds per epoch": f"{median(result['epoch'] for result in results):.1f}",
            "processor seconds per epoch": f"{median(result['cpu'] for result in results):.1f}",
            "load and fit [s]": f"{median(result['total'] for result in results):.1f}",
            "peak private memory [MB]": f"{max(result['MB'] for result in results):.0f}",
        }
        for (version, kind), results in found.items()
    ]
    disk = size / median(reads)
    share = float(rows[0]["training bags [GB]"])
    text = (
        f"{n_bags} bags of {SIZE:,} × {WIDTH:,} float16 rows, {size:.2f} GB; medians of {n_rounds} rounds, peaks are "
        f"maxima. The disk reads {disk:.2f} GB/s, so the training bags take at least {share / disk:.1f} s from a cold "
        f"disk. A cold epoch includes loading. {conditions()}."
    )
    write("cohort", "Training on a mapped folder of slides", text, rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--before", type=Path)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()))
    parser.add_argument("--bags", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--measure")
    arguments = parser.parse_args()
    if arguments.measure:
        measure(arguments.measure, arguments.folder)
    else:
        with tempfile.TemporaryDirectory(dir=arguments.folder) as temporary:
            compare(arguments.before, Path(temporary) / "cohort", arguments.bags, arguments.rounds)
