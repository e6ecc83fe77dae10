"""Views of flat arrays as matrices, for kernels that count no references: they own nothing and allocate nothing."""

from numba import types
from numba.core import cgutils
from numba.core.imputils import impl_ret_borrowed
from numba.extending import intrinsic
from numba.np.arrayobj import make_array, populate_array

from bagwise.training.fused.compiling import inlined


@intrinsic
def matrix(context, flat, start, n_rows, n_columns):
    """The (rows, columns) matrix that begins at a place of a flat array; nothing checks that it ends within."""
    kind = types.Array(flat.dtype, 2, "C")

    def generate(context, builder, signature, arguments):
        source = make_array(signature.args[0])(context, builder, arguments[0])
        size = context.get_abi_sizeof(context.get_data_type(flat.dtype))
        bytes_each = context.get_constant(types.intp, size)
        shape = arguments[2:]
        strides = [builder.mul(shape[1], bytes_each), bytes_each]
        result = make_array(kind)(context, builder)
        data = builder.gep(source.data, [arguments[1]])
        populate_array(result, data, shape, strides, bytes_each, meminfo=cgutils.get_null_value(result.meminfo.type))
        return impl_ret_borrowed(context, builder, kind, result._getvalue())

    return kind(flat, types.intp, types.intp, types.intp), generate


@inlined
def block(flat, plan, room, number):
    """One block of a flat array, (rows, width)."""
    capacity = room.rows.shape[0]
    return matrix(flat, capacity * plan.columns[number], capacity, plan.widths[number])


@inlined
def members_of(plan, room, number):
    """For each column of a block the rows where it is not zero, and how many they are."""
    capacity, column, width = room.rows.shape[0], plan.columns[number], plan.widths[number]
    return matrix(room.members, capacity * column, width, capacity), room.sizes[column : column + width]
