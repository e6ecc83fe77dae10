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

from bagwise.training.engines import fused
from bagwise.training.engines.fused import compilation
from bagwise.training.engines.fused.compilation import view_matrix

TRAIN = """
import hashlib
from bagwise import BagClassifier, load_dataset
bags = load_dataset("digits", n_bags=20)
model = BagClassifier("gated attention", epochs=20, engine="fused", random_state=0)
model.fit(bags, bags.labels)
weights = b"".join(value.numpy().tobytes() for value in model.model_.state_dict().values())
print(hashlib.sha256(weights).hexdigest())
"""


@compilation.compile_kernel
def sum_reciprocals(values):
    total = 0.0
    for value in values:
        total += 1.0 / value
    return total


@compilation.compile_entry_point
def call_sum_reciprocals(values):
    return sum_reciprocals(values)


def test_compile_kernel_preserves_infinities_and_nan():
    """Kernels may reorder sums, but infinities and NaN must be propagated to the loss."""
    assert call_sum_reciprocals(np.array([1.0, 2.0])) == 1.5
    assert call_sum_reciprocals(np.array([1.0, 0.0])) == np.inf
    assert np.isnan(call_sum_reciprocals(np.array([1.0, np.nan])))


def test_inline_kernel_may_return_a_view():
    @compilation.inline_kernel
    def view_tail(values):
        return values[1:]

    @njit
    def sum_tail(values):
        return view_tail(values).sum()

    assert sum_tail(np.arange(4.0)) == 6.0


def test_hash_kernel_sources_changes_with_any_file_of_the_folder(monkeypatch, tmp_path):
    (tmp_path / "first.py").write_text("a = 1")
    (tmp_path / "second.py").write_text("b = 1")
    monkeypatch.setattr(compilation, "__file__", str(tmp_path / "first.py"))
    before = compilation.hash_kernel_sources()
    assert compilation.hash_kernel_sources() == before
    (tmp_path / "second.py").write_text("b = 2")
    assert compilation.hash_kernel_sources() != before


def iterate_kernels():
    for entry in pkgutil.iter_modules(fused.__path__):
        module = importlib.import_module(f"{fused.__name__}.{entry.name}")
        for name, value in vars(module).items():
            if isinstance(value, Dispatcher):
                yield name, value.targetoptions


def test_kernels_except_the_entry_point_are_inlined():
    """Without inlining, the machine code of a kernel differs between compilation and loading from the cache."""
    kernels = list(iterate_kernels())
    assert len(kernels) > 50
    separate = {
        name for name, options in kernels if not options.get("forceinline") and options.get("inline") != "always"
    }
    assert separate == {"run_steps"}


@pytest.mark.full
def test_compiled_and_cached_kernels_give_bit_identical_weights(tmp_path):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", TRAIN]
    compiled, cached = (subprocess.check_output(command, env=environment, text=True) for _ in range(2))
    assert compiled == cached


@njit
def double_matrix(buffer, start, rows, columns):
    matrix = view_matrix(buffer, start, rows, columns)
    for row in range(rows):
        for column in range(columns):
            matrix[row, column] *= 2
    return matrix.shape


def test_view_matrix_shares_the_memory_of_the_flat_array():
    buffer = np.arange(12, dtype=np.float32)
    assert double_matrix(buffer, 3, 2, 4) == (2, 4)
    assert buffer.tolist() == [0, 1, 2, *(2 * np.arange(3, 11)).tolist(), 11]
