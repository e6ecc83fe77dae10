"""Dense layers with ReLU and dropout: forward, backward and weight update, without multiplications by zero.

With inputs x (rows × inputs), weights W, bias b and dropout mask m, a layer computes

    forward    z = x W + b                            h = max(z, 0) ⊙ m / (1 − p)
    backward   ∂L/∂z = ∂L/∂h ⊙ [h ≠ 0] / (1 − p)      ∂L/∂x = ∂L/∂z Wᵀ      ∂L/∂W = xᵀ ∂L/∂z      ∂L/∂b = Σ ∂L/∂z

The inputs of the first layer (``dense_forward``, ``dense_backward``) are dense. Its weights are stored as (outputs,
inputs), as in torch, and outputs that are dropped are not computed. In the inputs of every later layer
(``sparse_forward``, ``sparse_backward``), ReLU and dropout have set most values to zero. Its weights are stored as
(inputs, outputs), so that each nonzero value uses one contiguous row of weights in the forward pass, in the backward
pass and in the update.

Lists of indices (``nonzero_columns``, ``selected``) are stored in arrays that are allocated once, so kernels receive
their length as a separate argument.
"""

import numpy as np

from bagwise.training.engines.fused.compilation import compile_kernel, inline_kernel
from bagwise.training.engines.fused.optimizers import update_row, update_row_from_two


@compile_kernel
def dense_forward(inputs, n_rows, weights, bias, mask, selected, outputs):
    """Compute z = x Wᵀ + b of the first layer where the dropout mask is 1; other ``outputs`` are not written."""
    for output in range(weights.shape[0]):
        row, count = weights[output], 0
        for k in range(n_rows):  # without a branch, which would be unpredictable
            selected[count] = k
            count += mask[k, output]
        for start in range(0, count, 4):
            i, j, k, m = take_four(selected, start, count)
            a, b, c, d = dot_products(row, inputs[i], inputs[j], inputs[k], inputs[m])
            outputs[i, output], outputs[j, output] = a + bias[output], b + bias[output]
            outputs[k, output], outputs[m, output] = c + bias[output], d + bias[output]


@compile_kernel
def dense_backward(inputs, nonzero_rows, n_nonzero_rows, gradients, layer, row_gradient, rule):
    """Update W of the first layer by (∂L/∂z)ᵀ x, row by row; ``gradients`` is ∂L/∂z."""
    for output in range(layer.weights.shape[0]):
        factors, selected, count = gradients[:, output], nonzero_rows[output], n_nonzero_rows[output]
        update_weight_row(layer, output, factors, inputs, selected, count, row_gradient, rule)


@compile_kernel
def sparse_forward(inputs, nonzero_columns, n_nonzero_columns, n_rows, weights, outputs):
    """Compute z += x W of a later layer from its nonzero inputs; ``outputs`` must already contain b."""
    for k in range(n_rows):
        add_rows(outputs[k], inputs[k], weights, nonzero_columns[k], n_nonzero_columns[k])


@compile_kernel
def sparse_backward(
    inputs, nonzero_rows, n_nonzero_rows, gradients, input_gradients, propagate, layer, row_gradient, rule
):
    """Compute ∂L/∂x += ∂L/∂z Wᵀ of a later layer where x is not zero, if ``propagate``; then update W by xᵀ ∂L/∂z."""
    for column in range(layer.weights.shape[0]):
        row, count, selected = layer.weights[column], n_nonzero_rows[column], nonzero_rows[column]
        if propagate:
            _add_input_gradients(row, gradients, selected, count, input_gradients, column)
        values = inputs[:, column]
        update_weight_row(layer, column, values, gradients, selected, count, row_gradient, rule)


@compile_kernel
def _add_input_gradients(row, gradients, selected, count, input_gradients, column):
    for start in range(0, count, 4):
        i, j, k, m = take_four(selected, start, count)
        a, b, c, d = dot_products(row, gradients[i], gradients[j], gradients[k], gradients[m])
        a, b = input_gradients[i, column] + a, input_gradients[j, column] + b
        c, d = input_gradients[k, column] + c, input_gradients[m, column] + d
        # take_four may repeat the last row, so all values are read before any is written
        input_gradients[i, column], input_gradients[j, column] = a, b
        input_gradients[k, column], input_gradients[m, column] = c, d


@compile_kernel
def relu_dropout_forward(values, n_rows, mask, scale, nonzero_columns, n_nonzero_columns, nonzero_rows, n_nonzero_rows):
    """Compute h = max(z, 0) ⊙ m · scale in place, and list the nonzero values of h by row and by column."""
    zero = values.dtype.type(0)
    for k in range(n_rows):
        for column in range(values.shape[1]):
            value = values[k, column]
            positive = (mask[k, column] != 0) & (not value <= zero)  # preserves NaN
            values[k, column] = value * scale if positive else zero
    list_nonzero(values, n_rows, nonzero_columns, n_nonzero_columns, nonzero_rows, n_nonzero_rows)


@compile_kernel
def relu_dropout_backward(gradients, n_rows, scale):
    """Compute ∂L/∂z = ∂L/∂h · scale in place; where h is zero, the gradient is already zero."""
    for k in range(n_rows):
        for column in range(gradients.shape[1]):
            gradients[k, column] *= scale


@compile_kernel
def list_nonzero(values, n_rows, nonzero_columns, n_nonzero_columns, nonzero_rows, n_nonzero_rows):
    """List the nonzero columns of each row, and the nonzero rows of each column.

    Every index is written, and overwritten by the next one if its value is zero. This avoids unpredictable branches.
    """
    for k in range(n_rows):
        count = 0
        for column in range(values.shape[1]):
            nonzero_columns[k, count] = column
            count += np.int64(values[k, column] != 0)
        n_nonzero_columns[k] = count
    for column in range(values.shape[1]):
        count = 0
        for k in range(n_rows):
            nonzero_rows[column, count] = k
            count += np.int64(values[k, column] != 0)
        n_nonzero_rows[column] = count


@compile_kernel
def update_weight_row(layer, index, factors, rows, selected, count, row_gradient, rule):
    """Update one row of weights by the gradient Σ factors[s] · rows[s] over the selected s.

    For at most two terms, which are common in small bags, the gradient is not stored.
    """
    weights = layer.weights[index]
    first_moments, second_moments = layer.first_moments[index], layer.second_moments[index]
    zero = row_gradient.dtype.type(0)
    if count <= 2:
        i, j = (selected[0], selected[count - 1]) if count > 0 else (0, 0)
        a, b = factors[i] if count > 0 else zero, factors[j] if count > 1 else zero
        update_row_from_two(rule, weights, first_moments, second_moments, a, rows[i], b, rows[j])
        return
    row_gradient[:] = 0
    add_rows(row_gradient, factors, rows, selected, count)
    update_row(rule, weights, first_moments, second_moments, row_gradient)


@compile_kernel
def add_rows(total, factors, rows, selected, count):
    """Compute total += Σ factors[s] · rows[s] over the selected s, four at a time."""
    start = 0
    while start + 4 <= count:
        i, j, k, m = selected[start], selected[start + 1], selected[start + 2], selected[start + 3]
        add_four_scaled(total, factors[i], rows[i], factors[j], rows[j], factors[k], rows[k], factors[m], rows[m])
        start += 4
    for rest in range(start, count):
        add_scaled(total, factors[selected[rest]], rows[selected[rest]])


@compile_kernel
def add_four_scaled(total, a, row_a, b, row_b, c, row_c, d, row_d):
    """Compute total += a · row_a + b · row_b + c · row_c + d · row_d."""
    for i in range(total.shape[0]):
        total[i] += (a * row_a[i] + b * row_b[i]) + (c * row_c[i] + d * row_d[i])


@compile_kernel
def add_scaled(total, factor, row):
    """Compute total += factor · row."""
    for i in range(total.shape[0]):
        total[i] += factor * row[i]


@compile_kernel
def dot_products(row, row_a, row_b, row_c, row_d):
    """Return the dot products of one row with four others, reading the row only once."""
    a = b = c = d = row.dtype.type(0)
    for i in range(row.shape[0]):
        value = row[i]
        a += value * row_a[i]
        b += value * row_b[i]
        c += value * row_c[i]
        d += value * row_d[i]
    return a, b, c, d


@compile_kernel
def dot_product(left, right):
    """Return the dot product of two rows."""
    total = left.dtype.type(0)
    for i in range(left.shape[0]):
        total += left[i] * right[i]
    return total


@inline_kernel
def take_four(selected, start, count):
    """Return four indices from ``start`` on; the last index is repeated if fewer are left."""
    last = count - 1
    return (
        selected[start],
        selected[min(start + 1, last)],
        selected[min(start + 2, last)],
        selected[min(start + 3, last)],
    )


@compile_kernel
def sum_columns(rows, n_rows, total):
    """Set ``total`` to the sum of the first ``n_rows`` rows."""
    total[:] = 0
    for k in range(n_rows):
        for column in range(rows.shape[1]):
            total[column] += rows[k, column]


@compile_kernel
def copy_values(source, target):
    """Set target = source, without NumPy's broadcasting, which is slow to compile."""
    for i in range(source.shape[0]):
        target[i] = source[i]


@compile_kernel
def clear_values(values):
    """Set values = 0, without NumPy's broadcasting, which is slow to compile."""
    for i in range(values.shape[0]):
        values[i] = 0
