"""Compilation of kernels, which release the GIL and preserve infinities and NaN; and matrix views of flat arrays.

Kernels are compiled without reference counting. Therefore views do not own or allocate memory.

An entry point is called from Python; inner kernels are called by kernels only. Numba would optimize every kernel and
compile it to machine code, and then link it into its callers, where it is optimized and compiled again. Here an inner
kernel is only lowered to LLVM code; the entry point, with all that it calls, is optimized and compiled once.
"""

import hashlib
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

from llvmlite.binding import Linkage
from numba import njit, types
from numba.core import cgutils
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.imputils import impl_ret_borrowed
from numba.core.typed_passes import NativeLowering
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


class InnerLibrary(JITCodeLibrary):
    """LLVM code of an inner kernel, which is linked into its callers without being optimized or compiled by itself."""

    def _optimize_final_module(self) -> None:
        return

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """Return 0, because there is no machine code."""
        self._ensure_finalized()
        return 0

    @property
    def codegen(self) -> "InnerLibrary":
        return self

    def set_env(self, env_name: str, env: Any) -> None:
        """Do nothing: kernels do not refer to Python objects, and without machine code there is no address to set."""


class EntryLibrary(JITCodeLibrary):
    """LLVM code of an entry point and of all kernels that it calls, optimized and compiled together.

    Inner kernels become private to the entry point. Otherwise the copies of a kernel in two entry points would have the
    same name, and which of them runs would depend on which entry point was compiled or loaded first.
    """

    def _optimize_final_module(self) -> None:
        for function in self._final_module.functions:
            if not function.is_declaration and function.linkage == Linkage.linkonce_odr:
                function.linkage = Linkage.private
        super()._optimize_final_module()


def _make_compiler(library: type[JITCodeLibrary], name: str) -> type[CompilerBase]:
    """Make a compiler that collects the LLVM code of a function in a library of the given class."""

    @register_pass(mutates_CFG=True, analysis_only=False)
    class Lowering(NativeLowering):
        _name = name

        def run_pass(self, state: Any) -> bool:
            codegen = state.targetctx.codegen()
            state.library = library(codegen, state.func_id.func_qualname)
            state.library.enable_object_caching()
            return bool(super().run_pass(state))

    class Compiler(CompilerBase):
        def define_pipelines(self) -> list[Any]:
            manager = DefaultPassBuilder.define_nopython_pipeline(self.state)
            passes = [(Lowering if each is NativeLowering else each, title) for each, title in manager.passes]
            manager.passes[:] = passes
            manager.finalize()
            return [manager]

    return Compiler


INNER_OPTIONS: dict[str, Any] = {
    **KERNEL_OPTIONS,
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
    "pipeline_class": _make_compiler(InnerLibrary, "inner_kernel_lowering"),
}
ENTRY_OPTIONS: dict[str, Any] = {
    **KERNEL_OPTIONS,
    "no_cfunc_wrapper": True,
    "cache": True,
    "pipeline_class": _make_compiler(EntryLibrary, "entry_point_lowering"),
}


def compile_kernel(function: Callable[..., Any]) -> Any:
    """Compile a kernel that is called by other kernels."""
    return njit(as_python_function(function), **INNER_OPTIONS)


def inline_kernel(function: Callable[..., Any]) -> Any:
    """Compile a kernel whose code is copied into its callers, so that it can return views."""
    return njit(as_python_function(function), **INNER_OPTIONS, inline="always")


def compile_entry_point(function: Callable[..., Any]) -> Any:
    """Compile a kernel that is called from Python; its machine code is cached on disk."""
    return njit(as_python_function(function), **ENTRY_OPTIONS)


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
