"""Operations on a vector of neighbouring numbers at once, for kernels whose loops the compiler would leave as they are.

They read and write whole vectors of ``LANES`` numbers, beyond the end of a row where its length is no multiple of that:
whoever calls them sees to it that what lies there may be touched. Two work on a single number, where a loop cannot be
one of vectors.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

from bagwise.training.fused.stages import LANES, VECTORS

POSITIONS = 4  # of a window of max pooling, 2 × 2


def _data(context, builder, kind, value):
    return make_array(kind)(context, builder, value).data


def _load(builder, data, place, kind):
    """A vector, wherever it begins."""
    found = builder.load(builder.bitcast(builder.gep(data, [place]), kind.as_pointer()))
    found.align = 1
    return found


def _store(builder, vector, data, place):
    builder.store(vector, builder.bitcast(builder.gep(data, [place]), vector.type.as_pointer()), align=1)


def _spread(builder, number):
    """The same number in all lanes."""
    kind = ir.VectorType(number.type, LANES)
    one = builder.insert_element(ir.Constant(kind, ir.Undefined), number, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(one, one, ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES))


@intrinsic
def take(context, values, place):
    """values[place] for a place that is known to be within: Numba would ask whether it counts from the end."""

    def generate(context, builder, signature, arguments):
        return builder.load(builder.gep(_data(context, builder, signature.args[0], arguments[0]), [arguments[1]]))

    return values.dtype(values, types.intp), generate


@intrinsic
def put(context, values, place, value):
    """values[place] = value, likewise."""

    def generate(context, builder, signature, arguments):
        data = _data(context, builder, signature.args[0], arguments[0])
        builder.store(arguments[2], builder.gep(data, [arguments[1]]))
        return context.get_dummy_value()

    return types.void(values, types.intp, values.dtype), generate


@intrinsic
def add_products(context, total, start, to, rows, of, first, factors, begins, count):
    """total[start + to[n]] += Σᵢ factors[i] · rows[begins[i] + of[n]] for ``VECTORS`` vectors n, summed in registers.

    ``to`` and ``of`` say, from ``first`` on, where each of the vectors lies; the sum is over i < ``count``.
    """

    def generate(context, builder, signature, arguments):
        sums, targets, values, sources, slopes, places = (
            _data(context, builder, signature.args[n], arguments[n]) for n in (0, 2, 3, 4, 6, 7)
        )
        vector = ir.VectorType(context.get_data_type(total.dtype), LANES)
        numbers = [_after(builder, arguments[5], n) for n in range(VECTORS)]
        offsets = [builder.load(builder.gep(sources, [number])) for number in numbers]
        products = [cgutils.alloca_once_value(builder, ir.Constant(vector, [0.0] * LANES)) for _ in numbers]
        with cgutils.for_range(builder, arguments[8]) as loop:
            factor = _spread(builder, builder.load(builder.gep(slopes, [loop.index])))
            begin = builder.load(builder.gep(places, [loop.index]))
            for product, offset in zip(products, offsets, strict=True):
                row = _load(builder, values, builder.add(begin, offset), vector)
                builder.store(builder.fadd(builder.load(product), builder.fmul(factor, row)), product)
        for product, number in zip(products, numbers, strict=True):
            place = builder.add(arguments[1], builder.load(builder.gep(targets, [number])))
            added = builder.fadd(_load(builder, sums, place, vector), builder.load(product))
            _store(builder, added, sums, place)
        return context.get_dummy_value()

    integer = types.intp
    return types.void(total, integer, to, rows, of, integer, factors, begins, integer), generate


def tile(n_vectors: int) -> Any:
    """A kernel: convolution, max pooling and ReLU at one pooled position, for ``n_vectors`` vectors of maps.

    ``window`` = (first, across, down, kernel, length): where in the image the first of four neighbouring windows
    begins, how far it is to the next column and row, and the rows of a window with their length. ``weights`` from
    ``start`` on are the biases, then a row of maps, ``width`` apart, for every number of a window.
    """

    @intrinsic
    def pooled(context, image, window, weights, start, width, values, winners, place):
        def generate(context, builder, signature, arguments):
            pixels, factors, highest, numbers = (
                _data(context, builder, signature.args[n], arguments[n]) for n in (0, 2, 5, 6)
            )
            vector = ir.VectorType(context.get_data_type(image.dtype), LANES)
            sums = [[cgutils.alloca_once(builder, vector) for _ in range(n_vectors)] for _ in range(POSITIONS)]

            def row_of_maps(row):
                begin = builder.add(arguments[3], builder.mul(row, arguments[4]))
                return [_load(builder, factors, _after(builder, begin, LANES * n), vector) for n in range(n_vectors)]

            biases = row_of_maps(ir.Constant(arguments[4].type, 0))
            for at_position in sums:
                for total, bias in zip(at_position, biases, strict=True):
                    builder.store(bias, total)
            for row, corners in _walk(builder, *cgutils.unpack_tuple(builder, arguments[1])):
                maps = row_of_maps(row)
                for at_position, corner in zip(sums, corners, strict=True):
                    pixel = _spread(builder, builder.load(builder.gep(pixels, [corner])))
                    for total, factor in zip(at_position, maps, strict=True):
                        builder.store(builder.fadd(builder.load(total), builder.fmul(pixel, factor)), total)
            for n in range(n_vectors):
                value, winner = _highest(builder, [builder.load(at_position[n]) for at_position in sums])
                at = _after(builder, arguments[7], LANES * n)
                _store(builder, _rectified(builder, value), highest, at)
                _store(builder, winner, numbers, at)
            return context.get_dummy_value()

        window_kind, integer = types.UniTuple(types.intp, 5), types.intp
        return types.void(image, window_kind, weights, integer, integer, values, winners, integer), generate

    return pooled


def _after(builder, place, count):
    return builder.add(place, ir.Constant(place.type, count))


def _walk(builder, first, across, down, kernel, length):
    """Within loops over a window: the number's row of weights, and where it lies in each of the four windows."""
    with cgutils.for_range(builder, kernel) as outer, cgutils.for_range(builder, length) as inner:
        row = _after(builder, builder.add(builder.mul(outer.index, length), inner.index), 1)
        above = builder.add(builder.add(first, builder.mul(outer.index, down)), inner.index)
        below = builder.add(above, down)
        yield row, (above, builder.add(above, across), below, builder.add(below, across))


def _highest(builder, candidates):
    """The highest of vectors, lane by lane, and its number: the first of equals, and NaN before all, as in torch."""
    bytes_kind = ir.VectorType(ir.IntType(8), LANES)
    highest, winner = candidates[0], ir.Constant(bytes_kind, [0] * LANES)
    for number, candidate in enumerate(candidates[1:], start=1):
        higher = builder.or_(
            builder.fcmp_ordered(">", candidate, highest), builder.fcmp_unordered("uno", candidate, candidate)
        )
        highest = builder.select(higher, candidate, highest)
        winner = builder.select(higher, ir.Constant(bytes_kind, [number] * LANES), winner)
    return highest, winner


def _rectified(builder, vector):
    """ReLU, through which NaN stays."""
    zero = ir.Constant(vector.type, [0.0] * LANES)
    return builder.select(builder.fcmp_ordered("<=", vector, zero), zero, vector)
