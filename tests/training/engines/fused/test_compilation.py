import importlib
import os
import pkgutil
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("numba")

from llvmlite.binding import Linkage
from numba import njit
from numba.core.codegen import JITCodeLibrary
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


@compilation.compile_kernel
def double(value):
    return 2.0 * value


@compilation.compile_kernel
def add_doubled(total, value):
    return total + double(value)


def compile_uncached(function):
    """Compile an entry point whose machine code is not stored, so that every run of the test compiles it."""
    return njit(function, **compilation.ENTRY_OPTIONS | {"cache": False})


def test_compile_kernel_compiles_no_machine_code_of_an_inner_kernel():
    """Only entry points are optimized and compiled, with all kernels that they call."""

    @compile_uncached
    def sum_doubled(values):
        total = 0.0
        for value in values:
            total = add_doubled(total, value)
        return total

    assert sum_doubled(np.arange(3.0)) == 6.0
    for kernel in (double, add_doubled):
        for overload in kernel.overloads.values():
            assert overload.library.get_pointer_to_function(overload.fndesc.llvm_func_name) == 0
        assert kernel.overloads


def test_compile_entry_point_makes_inner_kernels_private(monkeypatch):
    """A process that compiled a kernel and one that loaded it from the cache must run the same machine code."""
    linkages = {}

    def record_linkages(library):
        functions = (function for function in library._final_module.functions if not function.is_declaration)
        linkages.update({function.name: function.linkage for function in functions})

    @compile_uncached
    def double_first(values):
        return double(values[0])

    monkeypatch.setattr(JITCodeLibrary, "_optimize_final_module", record_linkages)
    assert double_first(np.array([1.5, 2.0])) == 3.0
    exported = {name for name, linkage in linkages.items() if linkage != Linkage.private}
    assert len(linkages) > len(exported)
    assert not [name for name in exported if "double_first" not in name]


def test_every_kernel_but_the_entry_point_is_an_inner_kernel():
    kernels = [
        (name, value)
        for entry in pkgutil.iter_modules(fused.__path__)
        for name, value in vars(importlib.import_module(f"{fused.__name__}.{entry.name}")).items()
        if isinstance(value, Dispatcher)
    ]
    assert len(kernels) > 50
    inner = compilation.INNER_OPTIONS["pipeline_class"]
    assert {name for name, kernel in kernels if kernel._compiler.pipeline_class is not inner} == {"run_steps"}


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
