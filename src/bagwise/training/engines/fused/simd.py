"""SIMD operations in LLVM code, for loops that the compiler does not vectorize, and vectorized tanh and sigmoid.

The vector operations read and write whole vectors of ``LANES`` values, past the end of a row if its length is not a
multiple of ``LANES``. The caller must ensure that this memory can be read and written.

tanh and sigmoid use the precision of the row. In float64 they call the C library. In float32 tanh is approximated by a
ratio of polynomials, x P(x²) / Q(x²) on |x| ≤ 8, which was fitted by reweighted least squares to minimise the relative
error (6e-9). Unlike a library call, it can be vectorized.
"""

import math
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload
from numba.np.arrayobj import make_array

from bagwise.training.engines.fused.compilation import FASTMATH, as_python_function, compile_kernel
from bagwise.training.engines.fused.conv_tables import LANES, VECTORS

POOLING_WINDOW = 4  # number of values per 2 × 2 window of max pooling

TANH_LIMIT = np.float32(8)
P0, P1, P2, P3, P4 = np.array(
    [0.999999993588422, 0.13444506507706247, 0.0035716081478896658, 2.1894829334536688e-05, 1.5230653647459906e-08],
    dtype=np.float32,
)
Q0, Q1, Q2, Q3, Q4 = np.array(
    [1.0, 0.46777833832847127, 0.026164481451507314, 0.00034113085937601516, 8.522542184976915e-07], dtype=np.float32
)


def make_conv_tile(n_vectors: int) -> Any:
    """Return a kernel for convolution, max pooling and ReLU at one pooled position, for ``n_vectors`` vectors of maps.

    ``window`` is (first, across, down, kernel, length): the position in the image of the first of four neighbouring
    windows, the distance to the next column and to the next row, and the number and length of the rows of a window.
    From ``start`` on, ``weights`` contains the biases, and then one row of maps for each value of a window. The
    distance between rows is ``width``.
    """

    @intrinsic
    def convolve_tile(context, image, window, weights, start, width, maps, winners, target):
        def generate(context, builder, signature, arguments):
            pixel_data, weight_data, map_data, winner_data = (
                _get_data(context, builder, signature.args[i], arguments[i]) for i in (0, 2, 5, 6)
            )
            vector = ir.VectorType(context.get_data_type(image.dtype), LANES)
            sums = [[cgutils.alloca_once(builder, vector) for _ in range(n_vectors)] for _ in range(POOLING_WINDOW)]

            def load_weight_row(row):
                first = builder.add(arguments[3], builder.mul(row, arguments[4]))
                return [
                    _load_vector(builder, weight_data, _add_constant(builder, first, LANES * i), vector)
                    for i in range(n_vectors)
                ]

            biases = load_weight_row(ir.Constant(arguments[4].type, 0))
            for window_sums in sums:
                for total, bias in zip(window_sums, biases, strict=True):
                    builder.store(bias, total)
            for row, pixels in _loop_over_window(builder, *cgutils.unpack_tuple(builder, arguments[1])):
                weight_row = load_weight_row(row)
                for window_sums, pixel in zip(sums, pixels, strict=True):
                    value = _broadcast(builder, builder.load(builder.gep(pixel_data, [pixel])))
                    for total, weight in zip(window_sums, weight_row, strict=True):
                        builder.store(builder.fadd(builder.load(total), builder.fmul(value, weight)), total)
            for i in range(n_vectors):
                value, winner = _max_of_vectors(builder, [builder.load(window_sums[i]) for window_sums in sums])
                position = _add_constant(builder, arguments[7], LANES * i)
                _store_vector(builder, _relu(builder, value), map_data, position)
                _store_vector(builder, winner, winner_data, position)
            return context.get_dummy_value()

        window_type, integer = types.UniTuple(types.intp, 5), types.intp
        return types.void(image, window_type, weights, integer, integer, maps, winners, integer), generate

    return convolve_tile


@intrinsic
def add_products(context, total, start, target_offsets, rows, source_offsets, first, factors, row_starts, count):
    """Compute total[start + target_offsets[n]] += Σᵢ factors[i] · rows[row_starts[i] + source_offsets[n]].

    The computation is done for the ``VECTORS`` vectors n = first, first + 1, …; the sum, over i < ``count``, is
    accumulated in registers.
    """

    def generate(context, builder, signature, arguments):
        total_data, target_data, row_data, source_data, factor_data, start_data = (
            _get_data(context, builder, signature.args[i], arguments[i]) for i in (0, 2, 3, 4, 6, 7)
        )
        vector = ir.VectorType(context.get_data_type(total.dtype), LANES)
        numbers = [_add_constant(builder, arguments[5], n) for n in range(VECTORS)]
        offsets = [builder.load(builder.gep(source_data, [number])) for number in numbers]
        sums = [cgutils.alloca_once_value(builder, ir.Constant(vector, [0.0] * LANES)) for _ in numbers]
        with cgutils.for_range(builder, arguments[8]) as loop:
            factor = _broadcast(builder, builder.load(builder.gep(factor_data, [loop.index])))
            row_start = builder.load(builder.gep(start_data, [loop.index]))
            for partial, offset in zip(sums, offsets, strict=True):
                row = _load_vector(builder, row_data, builder.add(row_start, offset), vector)
                builder.store(builder.fadd(builder.load(partial), builder.fmul(factor, row)), partial)
        for partial, number in zip(sums, numbers, strict=True):
            position = builder.add(arguments[1], builder.load(builder.gep(target_data, [number])))
            added = builder.fadd(_load_vector(builder, total_data, position, vector), builder.load(partial))
            _store_vector(builder, added, total_data, position)
        return context.get_dummy_value()

    integer = types.intp
    signature = types.void(total, integer, target_offsets, rows, source_offsets, integer, factors, row_starts, integer)
    return signature, generate


@intrinsic
def load_value(context, values, index):
    """Return values[index] for an index ≥ 0, without Numba's check for negative indices."""

    def generate(context, builder, signature, arguments):
        return builder.load(builder.gep(_get_data(context, builder, signature.args[0], arguments[0]), [arguments[1]]))

    return values.dtype(values, types.intp), generate


@intrinsic
def store_value(context, values, index, value):
    """Set values[index] = value for an index ≥ 0, without Numba's check for negative indices."""

    def generate(context, builder, signature, arguments):
        data = _get_data(context, builder, signature.args[0], arguments[0])
        builder.store(arguments[2], builder.gep(data, [arguments[1]]))
        return context.get_dummy_value()

    return types.void(values, types.intp, values.dtype), generate


def _get_data(context, builder, array_type, value):
    return make_array(array_type)(context, builder, value).data


def _load_vector(builder, data, position, vector):
    """Load a vector without assuming alignment."""
    value = builder.load(builder.bitcast(builder.gep(data, [position]), vector.as_pointer()))
    value.align = 1
    return value


def _store_vector(builder, value, data, position):
    builder.store(value, builder.bitcast(builder.gep(data, [position]), value.type.as_pointer()), align=1)


def _broadcast(builder, value):
    """Copy one value to all lanes."""
    vector = ir.VectorType(value.type, LANES)
    single = builder.insert_element(ir.Constant(vector, ir.Undefined), value, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(single, single, ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES))


def _add_constant(builder, value, constant):
    return builder.add(value, ir.Constant(value.type, constant))


def _loop_over_window(builder, first, across, down, kernel, length):
    """Generate loops over a window; yield the row of the weights and the positions of the pixel in all four windows."""
    with cgutils.for_range(builder, kernel) as outer, cgutils.for_range(builder, length) as inner:
        row = _add_constant(builder, builder.add(builder.mul(outer.index, length), inner.index), 1)
        above = builder.add(builder.add(first, builder.mul(outer.index, down)), inner.index)
        below = builder.add(above, down)
        yield row, (above, builder.add(above, across), below, builder.add(below, across))


def _max_of_vectors(builder, candidates):
    """Return the maximum of each lane and its index; as in torch, NaN and the first of equal values take precedence."""
    byte_vector = ir.VectorType(ir.IntType(8), LANES)
    maximum, winner = candidates[0], ir.Constant(byte_vector, [0] * LANES)
    for index, candidate in enumerate(candidates[1:], start=1):
        higher = builder.or_(
            builder.fcmp_ordered(">", candidate, maximum), builder.fcmp_unordered("uno", candidate, candidate)
        )
        maximum = builder.select(higher, candidate, maximum)
        winner = builder.select(higher, ir.Constant(byte_vector, [index] * LANES), winner)
    return maximum, winner


def _relu(builder, value):
    """Apply ReLU; NaN is preserved."""
    zero = ir.Constant(value.type, [0.0] * LANES)
    return builder.select(builder.fcmp_ordered("<=", value, zero), zero, value)


@compile_kernel
def tanh_row(values):
    """Apply tanh to each value, in place."""
    for i in range(values.shape[0]):
        values[i] = tanh(values[i])


@compile_kernel
def sigmoid_row(values):
    """Apply sigm(x) = (1 + tanh(x/2)) / 2 to each value, in place."""
    half = values.dtype.type(0.5)
    for i in range(values.shape[0]):
        values[i] = half + half * tanh(half * values[i])


def tanh(x):
    """Return tanh in the precision of x; to be called by kernels only."""
    return np.tanh(x)


def _tanh_ratio(x):
    """Return the approximation of tanh in float32."""
    if x > TANH_LIMIT:  # comparisons preserve NaN, unlike min and max
        x = TANH_LIMIT
    if x < -TANH_LIMIT:
        x = -TANH_LIMIT
    square = x * x
    numerator = (((P4 * square + P3) * square + P2) * square + P1) * square + P0
    denominator = (((Q4 * square + Q3) * square + Q2) * square + Q1) * square + Q0
    return x * numerator / denominator


@overload(tanh, jit_options={"fastmath": FASTMATH, "error_model": "numpy"}, inline="always")
def _choose_tanh(x):
    return (lambda x: math.tanh(x)) if x == types.float64 else as_python_function(_tanh_ratio)
