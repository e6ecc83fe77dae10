"""Fully connected layers, forward and backward with the update of their weights, without multiplying by zeros.

The first layer reads dense rows: its weights lie output by output, as torch's, and outputs that dropout silences are
never computed. Every later layer reads rows of which ReLU and dropout have silenced most values: its weights lie input
by input, so that each value that is left meets one contiguous row of weights, forward, backward and in the update.
"""

import numpy as np

from bagwise.training.fused.compiling import compiled, inlined
from bagwise.training.fused.rules import update, update_by_two


@compiled
def dot(one, other):
    total = one.dtype.type(0)
    for place in range(one.shape[0]):
        total += one[place] * other[place]
    return total


@compiled
def dots(row, one, two, three, four):
    """Four products with the same row, which is then read once."""
    a = b = c = d = row.dtype.type(0)
    for place in range(row.shape[0]):
        value = row[place]
        a += value * one[place]
        b += value * two[place]
        c += value * three[place]
        d += value * four[place]
    return a, b, c, d


@compiled
def add(total, factor, row):
    for place in range(total.shape[0]):
        total[place] += factor * row[place]


@compiled
def add_four(total, a, one, b, two, c, three, d, four):
    for place in range(total.shape[0]):
        total[place] += (a * one[place] + b * two[place]) + (c * three[place] + d * four[place])


@compiled
def add_rows(total, factors, rows, chosen, count):
    """total += Σ factors[c] · rows[c] over the chosen, four at a time; ``factors`` is indexed as ``rows`` is."""
    place = 0
    while place + 4 <= count:
        i, j, k, m = chosen[place], chosen[place + 1], chosen[place + 2], chosen[place + 3]
        add_four(total, factors[i], rows[i], factors[j], rows[j], factors[k], rows[k], factors[m], rows[m])
        place += 4
    for rest in range(place, count):
        add(total, factors[chosen[rest]], rows[chosen[rest]])


@compiled
def learn_row(weights, first, second, factors, rows, chosen, count, gradient, kind, numbers):
    """The update of a row of weights by Σ factors[c] · rows[c] over the chosen, which are few in a small bag."""
    zero = gradient.dtype.type(0)
    if count <= 2:
        i, j = (chosen[0], chosen[count - 1]) if count > 0 else (0, 0)
        a, b = factors[i] if count > 0 else zero, factors[j] if count > 1 else zero
        update_by_two(kind, numbers, weights, first, second, a, rows[i], b, rows[j])
        return
    gradient[:] = 0
    add_rows(gradient, factors, rows, chosen, count)
    update(kind, numbers, weights, first, second, gradient)


@inlined
def four(chosen, place, count):
    """Four of the chosen from a place on; the last again where there are fewer."""
    last = count - 1
    return chosen[place], chosen[min(place + 1, last)], chosen[min(place + 2, last)], chosen[min(place + 3, last)]


@compiled
def apply_dense(inputs, n_rows, weights, bias, kept, chosen, outputs):
    """Outputs of the first layer, before ReLU, where dropout keeps them; what it silences stays as it was."""
    for output in range(weights.shape[0]):
        row, count = weights[output], 0
        for k in range(n_rows):  # without a branch, which could not be foreseen
            chosen[count] = k
            count += kept[k, output]
        for place in range(0, count, 4):
            i, j, k, m = four(chosen, place, count)
            a, b, c, d = dots(row, inputs[i], inputs[j], inputs[k], inputs[m])
            outputs[i, output], outputs[j, output] = a + bias[output], b + bias[output]
            outputs[k, output], outputs[m, output] = c + bias[output], d + bias[output]


@compiled
def apply_sparse(inputs, active, counts, n_rows, weights, outputs):
    """outputs += inputs · weights, over the inputs that are not zero."""
    for k in range(n_rows):
        add_rows(outputs[k], inputs[k], weights, active[k], counts[k])


@compiled
def rectify(values, n_rows, kept, scale, active, counts, members, sizes):
    """ReLU, then dropout, in place; lists what is left, by row (active) and by column (members)."""
    zero = values.dtype.type(0)
    for k in range(n_rows):
        for column in range(values.shape[1]):
            value = values[k, column]
            left = (kept[k, column] != 0) & (not value <= zero)  # NaN stays
            values[k, column] = value * scale if left else zero
    list_left(values, n_rows, active, counts, members, sizes)


@compiled
def list_left(values, n_rows, active, counts, members, sizes):
    """Every place is written to both lists, and overwritten if its value is zero: no branch has to be foreseen."""
    for k in range(n_rows):
        count = 0
        for column in range(values.shape[1]):
            active[k, count] = column
            count += np.int64(values[k, column] != 0)
        counts[k] = count
    for column in range(values.shape[1]):
        size = 0
        for k in range(n_rows):
            members[column, size] = k
            size += np.int64(values[k, column] != 0)
        sizes[column] = size


@compiled
def retreat_sparse(inputs, members, sizes, slopes, back, propagates, weights, first, second, gradient, kind, numbers):
    """back += slopes · weightsᵀ where the input is not zero, then the update of the weights, row by row."""
    for column in range(weights.shape[0]):
        row, count, chosen = weights[column], sizes[column], members[column]
        if propagates:
            _propagate(row, slopes, chosen, count, back, column)
        values = inputs[:, column]
        learn_row(row, first[column], second[column], values, slopes, chosen, count, gradient, kind, numbers)


@compiled
def _propagate(row, slopes, chosen, count, back, column):
    for place in range(0, count, 4):
        i, j, k, m = four(chosen, place, count)
        a, b, c, d = dots(row, slopes[i], slopes[j], slopes[k], slopes[m])
        a, b, c, d = back[i, column] + a, back[j, column] + b, back[k, column] + c, back[m, column] + d
        back[i, column], back[j, column], back[k, column], back[m, column] = a, b, c, d  # the last perhaps again


@compiled
def retreat_dense(inputs, members, sizes, slopes, weights, first, second, gradient, kind, numbers):
    """The update of the first layer's weights, row by row."""
    for output in range(weights.shape[0]):
        row, factors, chosen, count = weights[output], slopes[:, output], members[output], sizes[output]
        learn_row(row, first[output], second[output], factors, inputs, chosen, count, gradient, kind, numbers)


@compiled
def column_sums(rows, n_rows, total):
    total[:] = 0
    for k in range(n_rows):
        for column in range(rows.shape[1]):
            total[column] += rows[k, column]


@compiled
def copy(source, target):
    """target = source, without the machinery of broadcasting, which is slow to compile."""
    for place in range(source.shape[0]):
        target[place] = source[place]


@compiled
def clear(values):
    """values = 0, likewise."""
    for place in range(values.shape[0]):
        values[place] = 0
