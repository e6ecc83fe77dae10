"""The most anonymous memory that a prediction takes above where it began, in a process of its own.

Pages of a mapped file do not count: the system can drop them at any time. As a script: a run, a folder of few bags to
warm up with, the folder that counts, and by which ways; the bytes are printed as JSON.
"""

import contextlib
import io
import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

STATUS = Path("/proc/self/status")
EVERY = 0.002  # seconds
needs_status = pytest.mark.skipif(not STATUS.exists(), reason="memory is read from /proc")


def anonymous():
    """Bytes of this process that no file stands for."""
    lines = STATUS.read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("RssAnon")) * 1024


class Peak:
    """The most that was seen while the block ran, above what was there when it began."""

    def __enter__(self):
        self.base = self.most = anonymous()
        self.done = threading.Event()
        self.watcher = threading.Thread(target=self.watch)
        self.watcher.start()
        return self

    def __exit__(self, *_):
        self.done.set()
        self.watcher.join()
        self.extra = self.most - self.base

    def watch(self):
        while not self.done.wait(EVERY):
            self.most = max(self.most, anonymous())


def extra_memory(run, few, bags, *ways):
    """Bytes that each way of predicting these bags takes; "all of it" reads the folder into memory, as a check."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    words = [sys.executable, __file__, run, few, bags, *ways]
    result = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False, env=environment)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def by_library(run, folder):
    """Open the folder, and ask for all that a prediction gives."""
    from bagwise.estimators import BagEstimator
    from bagwise.storage import load_bags

    model, bags = BagEstimator.load(run / "model"), load_bags(folder)
    probabilities, weights = model.judge(bags)
    assert len(model.predict_proba(bags)) == len(probabilities) == len(bags)
    assert len(model.weigh(bags)) == len(weights) == bags.n_instances


def by_command(run, folder):
    from bagwise.cli import main

    sys.argv = ["bagwise", "predict", str(run), str(folder), "-q"]
    sys.argv += ["--out", str(run.parent / "predictions.csv"), "--weights", str(run.parent / "weights.csv")]
    with contextlib.redirect_stdout(io.StringIO()):
        try:
            main()
        except SystemExit as ended:
            if ended.code:
                raise


def all_of_it(run, folder):
    import numpy as np

    assert np.array(np.load(folder / "instances.npy", mmap_mode="r")).size


WAYS = {"library": by_library, "command": by_command, "all of it": all_of_it}

if __name__ == "__main__":
    trained, warm, measured, *names = sys.argv[1:]
    for name in names:
        WAYS[name](Path(trained), Path(warm))
    found = {}
    for name in names:
        with Peak() as peak:
            WAYS[name](Path(trained), Path(measured))
        found[name] = peak.extra
    print(json.dumps(found))
