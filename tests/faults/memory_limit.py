"""Processes whose private memory is limited by the operating system.

After the imports and a warm-up, RLIMIT_DATA is set to the current private writable memory of the process (VmData, which
includes reservations) plus a bound. Memory-mapped files do not count. If a process needs more, its allocation fails;
this does not depend on the load of the machine, because memory is not sampled over time. As a script, this module
predicts bags with a limit; the arguments are a run, a folder of few bags for the warm-up, the folder to predict, the
bound in bytes, and the ways to predict.
"""

import contextlib
import io
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

OUT_OF_MEMORY = 3
ONE_ARENA = {"OMP_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "1", "ARROW_DEFAULT_MEMORY_POOL": "system"}
needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="RLIMIT_DATA covers all private memory on Linux only")


def limit_growth(bound, pid=0):
    """Limit the private memory that a process (0: this process) can allocate from now on, in bytes."""
    lines = Path(f"/proc/{pid or 'self'}/status").read_text(encoding="ascii").splitlines()
    size = next(int(line.split()[1]) for line in lines if line.startswith("VmData")) * 1024
    hard = resource.prlimit(pid, resource.RLIMIT_DATA)[1]
    resource.prlimit(pid, resource.RLIMIT_DATA, (size + bound, hard))


def can_predict_within(bound, run, warm_up, bags, *ways):
    """Return whether the bags can be predicted in all of these ways with ``bound`` bytes of additional memory."""
    arguments = [sys.executable, __file__, run, warm_up, bags, bound, *ways]
    environment = {**os.environ, **ONE_ARENA}
    result = subprocess.run(list(map(str, arguments)), capture_output=True, text=True, check=False, env=environment)
    assert result.returncode in (0, OUT_OF_MEMORY), result.stderr
    return result.returncode == 0


def predict_in_python(run, folder):
    from bagwise.bags.folder import load_bags
    from bagwise.estimators.base import BagEstimator

    model, bags = BagEstimator.load(run / "model"), load_bags(folder)
    probabilities, weights = model.predict_with_weights(bags)
    assert len(model.predict_proba(bags)) == len(probabilities) == len(bags)
    assert len(model.weigh(bags)) == len(weights) == bags.n_instances


def predict_by_command(run, folder):
    from bagwise.cli.entry_point import main

    sys.argv = ["bagwise", "predict", str(run), str(folder), "-q"]
    sys.argv += ["--out", str(run.parent / "predictions.csv"), "--weights", str(run.parent / "weights.csv")]
    message = io.StringIO()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(message):
        try:
            main()
        except SystemExit as end:
            if end.code and "not enough memory" in message.getvalue():
                raise MemoryError from None
            if end.code:
                raise RuntimeError(message.getvalue()) from None


def read_all_instances(run, folder):
    """Load all instances into memory, to check that the limit is effective."""
    import numpy as np

    assert np.array(np.load(folder / "instances.npy", mmap_mode="r")).size


WAYS = {"library": predict_in_python, "command": predict_by_command, "all at once": read_all_instances}

if __name__ == "__main__":
    run, warm_up, bags, bound, *names = sys.argv[1:]
    for name in names:
        WAYS[name](Path(run), Path(warm_up))
    limit_growth(int(bound))
    try:
        for name in names:
            WAYS[name](Path(run), Path(bags))
    except (MemoryError, RuntimeError) as error:
        if isinstance(error, RuntimeError) and "memory" not in str(error):
            raise
        sys.exit(OUT_OF_MEMORY)
