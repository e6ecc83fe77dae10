"""Compilation of kernels, which release the GIL and preserve infinities and NaN; and matrix views of flat arrays.

Kernels are compiled without reference counting. Therefore views do not own or allocate memory.
"""

import hashlib
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

from numba import njit, types
from numba.core import cgutils
from numba.core.imputils import impl_ret_borrowed
from numba.extending import intrinsic
from numba.np.arrayobj import make_array, populate_array

from bagwise.training.engines.fused.model_tables import ParameterBuffer

# Sums may be reordered and products contracted, so that loops are vectorized. Values are not assumed to be finite.
FASTMATH = {"reassoc", "contract", "nsz", "arcp"}
KERNEL_OPTIONS: dict[str, Any] = {
    "nogil": True,
    "fastmath": FASTMATH,
    "error_model": "numpy",
    "_nrt": False,  # no reference counting
}
INTERNAL_OPTIONS: dict[str, Any] = {  # for kernels that are not called from Python: reduces the compile time
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
}


def compile_kernel(function: Callable[..., Any]) -> Any:
    """Compile a kernel that is called by other kernels, and inline its machine code into its callers.

    Without inlining there would be two copies of the machine code: one in a process that has just compiled the kernel,
    and one in a process that loads the caller from the cache. The copies may round differently, so that a resumed run
    would not be bit-identical.
    """
    return njit(as_python_function(function), **KERNEL_OPTIONS, **INTERNAL_OPTIONS, forceinline=True)


def inline_kernel(function: Callable[..., Any]) -> Any:
    """Compile a kernel whose code is copied into its callers, so that it can return views."""
    return njit(as_python_function(function), **KERNEL_OPTIONS, **INTERNAL_OPTIONS, inline="always")


def compile_entry_point(function: Callable[..., Any]) -> Any:
    """Compile a kernel that is called from Python; its machine code is cached on disk."""
    return njit(as_python_function(function), **KERNEL_OPTIONS, cache=True)


def hash_kernel_sources() -> str:
    """Return a hash of all files of this folder, because Numba's cache checks only the file of the entry point."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def as_python_function(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function without wrappers of a runtime type checker, which Numba cannot compile."""
    return inspect.unwrap(function)


@intrinsic
def view_matrix(context, buffer, start, n_rows, n_columns):
    """Return a (rows, columns) view of a flat array from ``start`` on, without bounds checks."""
    matrix_type = types.Array(buffer.dtype, 2, "C")

    def generate(context, builder, signature, arguments):
        source = make_array(signature.args[0])(context, builder, arguments[0])
        item_size = context.get_constant(types.intp, context.get_abi_sizeof(context.get_data_type(buffer.dtype)))
        shape = arguments[2:]
        strides = [builder.mul(shape[1], item_size), item_size]
        matrix = make_array(matrix_type)(context, builder)
        data = builder.gep(source.data, [arguments[1]])
        populate_array(matrix, data, shape, strides, item_size, meminfo=cgutils.get_null_value(matrix.meminfo.type))
        return impl_ret_borrowed(context, builder, matrix_type, matrix._getvalue())

    return matrix_type(buffer, types.intp, types.intp, types.intp), generate


@inline_kernel
def view_block(buffer, tables, workspace, block):
    """Return a (rows, width) view of one block of a flat array of the workspace."""
    capacity = workspace.instances.shape[0]
    return view_matrix(buffer, capacity * tables.block_starts[block], capacity, tables.block_widths[block])


@inline_kernel
def view_nonzero_rows(tables, workspace, block):
    """Return views of the nonzero rows of each column of a block, and of their numbers."""
    capacity, start, width = workspace.instances.shape[0], tables.block_starts[block], tables.block_widths[block]
    rows = view_matrix(workspace.nonzero_rows, capacity * start, width, capacity)
    return rows, workspace.n_nonzero_rows[start : start + width]


@inline_kernel
def view_parameters(parameters, start, n_rows, n_columns):
    """Return views of one weight matrix of the parameter buffer and of its moments."""
    return ParameterBuffer(
        weights=view_matrix(parameters.weights, start, n_rows, n_columns),
        first_moments=view_matrix(parameters.first_moments, start, n_rows, n_columns),
        second_moments=view_matrix(parameters.second_moments, start, n_rows, n_columns),
    )
