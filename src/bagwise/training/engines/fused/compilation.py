"""How kernels are compiled: without the GIL, with infinities and NaN intact; and matrix views of flat arrays.

The views own nothing and allocate nothing, because the kernels do no reference counting.
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

# Sums may be reordered and products contracted, so that loops vectorize; no value is assumed to be finite.
FASTMATH = {"reassoc", "contract", "nsz", "arcp"}
KERNEL_OPTIONS: dict[str, Any] = {
    "nogil": True,
    "fastmath": FASTMATH,
    "error_model": "numpy",
    "_nrt": False,  # no reference counting
}
INTERNAL_OPTIONS: dict[str, Any] = {  # for kernels that Python never calls: less to compile
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
}


def compile_kernel(function: Callable[..., Any]) -> Any:
    """Compile a kernel that other kernels call, as part of the machine code of its caller.

    A kernel with machine code of its own would exist twice: a process that has just compiled it and a process that
    reads the caller from the cache run different copies. Two copies may round differently, and a resumed run would not
    end with the same bits.
    """
    return njit(as_python_function(function), **KERNEL_OPTIONS, **INTERNAL_OPTIONS, forceinline=True)


def inline_kernel(function: Callable[..., Any]) -> Any:
    """Compile a kernel that may return views, because its code is copied into its caller."""
    return njit(as_python_function(function), **KERNEL_OPTIONS, **INTERNAL_OPTIONS, inline="always")


def compile_entry_point(function: Callable[..., Any]) -> Any:
    """Compile a kernel that Python calls; its machine code is cached on disk."""
    return njit(as_python_function(function), **KERNEL_OPTIONS, cache=True)


def hash_kernel_sources() -> str:
    """Return one hash of all files of this folder: Numba's disk cache checks the file of the entry point only."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def as_python_function(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the plain function: a runtime type checker may have wrapped it in code that Numba cannot compile."""
    return inspect.unwrap(function)


@intrinsic
def view_matrix(context, buffer, start, n_rows, n_columns):
    """View a part of a flat array, from ``start`` on, as a (rows, columns) matrix; the end is not checked."""
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
    """View one block of a flat array of the workspace, as (rows, width)."""
    capacity = workspace.instances.shape[0]
    return view_matrix(buffer, capacity * tables.block_starts[block], capacity, tables.block_widths[block])


@inline_kernel
def view_nonzero_rows(tables, workspace, block):
    """View, for each column of a block, the rows where it is not zero, and their number."""
    capacity, start, width = workspace.instances.shape[0], tables.block_starts[block], tables.block_widths[block]
    rows = view_matrix(workspace.nonzero_rows, capacity * start, width, capacity)
    return rows, workspace.n_nonzero_rows[start : start + width]


@inline_kernel
def view_parameters(parameters, start, n_rows, n_columns):
    """View one weight matrix of the parameter buffer, together with its moments."""
    return ParameterBuffer(
        weights=view_matrix(parameters.weights, start, n_rows, n_columns),
        first_moments=view_matrix(parameters.first_moments, start, n_rows, n_columns),
        second_moments=view_matrix(parameters.second_moments, start, n_rows, n_columns),
    )
