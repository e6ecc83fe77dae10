import importlib
import os
import pkgutil
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("numba")
from numba import njit
from numba.core.dispatcher import Dispatcher

from bagwise.training import fused
from bagwise.training.fused import compiling

LEARN = """
import hashlib
from bagwise import BagClassifier, load_dataset
bags = load_dataset("digits", n_bags=20)
model = BagClassifier("gated attention", epochs=20, engine="fused", random_state=0)
model.fit(bags, bags.labels)
weights = b"".join(value.numpy().tobytes() for value in model.model_.state_dict().values())
print(hashlib.sha256(weights).hexdigest())
"""


@compiling.compiled
def quotient_sum(values):
    total = 0.0
    for value in values:
        total += 1.0 / value
    return total


@compiling.entrance
def entered(values):
    return quotient_sum(values)


def test_infinities_and_nan_keep_their_meaning():
    """Kernels may reorder sums, but a division by zero or a NaN must still reach the loss."""
    assert entered(np.array([1.0, 2.0])) == 1.5
    assert entered(np.array([1.0, 0.0])) == np.inf
    assert np.isnan(entered(np.array([1.0, np.nan])))


def test_a_view_may_be_returned_by_what_becomes_part_of_its_caller():
    @compiling.inlined
    def tail(values):
        return values[1:]

    @njit
    def total(values):
        return tail(values).sum()

    assert total(np.arange(4.0)) == 6.0


def test_the_key_of_the_cache_changes_with_any_file_of_the_folder(monkeypatch, tmp_path):
    (tmp_path / "one.py").write_text("a = 1")
    (tmp_path / "two.py").write_text("b = 1")
    monkeypatch.setattr(compiling, "__file__", str(tmp_path / "one.py"))
    before = compiling.sources()
    assert compiling.sources() == before
    (tmp_path / "two.py").write_text("b = 2")
    assert compiling.sources() != before


def kernels():
    for found in pkgutil.iter_modules(fused.__path__):
        module = importlib.import_module(f"{fused.__name__}.{found.name}")
        for name, value in vars(module).items():
            if isinstance(value, Dispatcher):
                yield f"{found.name}.{name}", value.targetoptions


def test_no_kernel_stands_alone_but_the_entrance():
    """Of one that does, a process that compiled it and a process that read its caller from disk run two copies."""
    alone = {name for name, how in kernels() if not how.get("forceinline") and how.get("inline") != "always"}
    assert {name.rsplit(".")[-1] for name in alone} == {"steps"}


@pytest.mark.full
def test_a_process_that_compiles_ends_with_the_bits_of_one_that_reads_what_was_compiled(tmp_path):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", LEARN]
    first, second = (subprocess.check_output(command, env=environment, text=True) for _ in range(2))
    assert first == second
