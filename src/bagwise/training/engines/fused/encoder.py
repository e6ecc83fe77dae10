"""The encoder f for the rows of a batch: forward, backward and weight update.

The first block is computed by convolutions or by a dense layer, or is a copy of the instances. The types of the
arguments determine which code is compiled: tables without convolutions contain an empty tuple instead. Therefore the
convolution kernels are not compiled for models without images.
"""

from numba import types
from numba.extending import overload

from bagwise.training.engines.fused.compilation import (
    INNER_OPTIONS,
    as_python_function,
    compile_kernel,
    view_block,
    view_matrix,
    view_nonzero_rows,
    view_parameters,
)
from bagwise.training.engines.fused.conv import conv_backward, conv_forward, flatten_maps
from bagwise.training.engines.fused.dense import (
    copy_values,
    dense_backward,
    dense_forward,
    list_nonzero,
    relu_dropout_backward,
    relu_dropout_forward,
    sparse_backward,
    sparse_forward,
    sum_columns,
)
from bagwise.training.engines.fused.dropout import sample_dropout_mask
from bagwise.training.engines.fused.model_tables import BIAS, INPUTS, OUTPUTS, WEIGHTS
from bagwise.training.engines.fused.optimizers import update_slice

NO_CONVOLUTIONS = types.Tuple(())


@compile_kernel
def sample_dropout_masks(tables, workspace, n_rows, seed, step):
    """Sample the dropout mask of every block."""
    for block in range(tables.block_widths.shape[0]):
        stream, threshold = tables.dropouts[block, 0], tables.dropouts[block, 1]
        if threshold > 0:
            mask = view_block(workspace.dropout_masks, tables, workspace, block)
            sample_dropout_mask(mask, n_rows, seed, stream, step, threshold)


@compile_kernel
def encoder_forward(tables, workspace, n_rows, weights):
    """Compute the blocks, and list their nonzero values."""
    first_block_forward(tables.conv, tables, workspace, n_rows, weights)
    for block in range(1, tables.block_widths.shape[0]):
        values = view_block(workspace.activations, tables, workspace, block)
        mask = view_block(workspace.dropout_masks, tables, workspace, block)
        columns = view_block(workspace.nonzero_columns, tables, workspace, block)
        rows, n_nonzero_rows = view_nonzero_rows(tables, workspace, block)
        inputs, outputs = tables.layers[block, INPUTS], tables.layers[block, OUTPUTS]
        start, bias_start = tables.layers[block, WEIGHTS], tables.layers[block, BIAS]
        for k in range(n_rows):
            copy_values(weights[bias_start : bias_start + outputs], values[k])
        previous = view_block(workspace.activations, tables, workspace, block - 1)
        previous_columns = view_block(workspace.nonzero_columns, tables, workspace, block - 1)
        matrix = view_matrix(weights, start, inputs, outputs)
        sparse_forward(previous, previous_columns, workspace.n_nonzero_columns[block - 1], n_rows, matrix, values)
        scale, n_nonzero_columns = tables.dropout_scales[block], workspace.n_nonzero_columns[block]
        relu_dropout_forward(values, n_rows, mask, scale, columns, n_nonzero_columns, rows, n_nonzero_rows)


@compile_kernel
def encoder_backward(tables, workspace, n_rows, parameters, rule):
    """Propagate the gradients of the embedding back through all layers, and update their weights."""
    for block in range(tables.layers.shape[0] - 1, -1, -1):
        gradients = view_block(workspace.activation_gradients, tables, workspace, block)
        relu_dropout_backward(gradients, n_rows, tables.dropout_scales[block])
        if block == 0:
            first_block_backward(tables.conv, tables, workspace, n_rows, gradients, parameters, rule)
            return
        update_bias(tables, workspace, block, n_rows, gradients, parameters, rule)
        inputs, outputs, start = (
            tables.layers[block, INPUTS],
            tables.layers[block, OUTPUTS],
            tables.layers[block, WEIGHTS],
        )
        layer, row_gradient = view_parameters(parameters, start, inputs, outputs), workspace.row_gradient[:outputs]
        previous = view_block(workspace.activations, tables, workspace, block - 1)
        previous_gradients = view_block(workspace.activation_gradients, tables, workspace, block - 1)
        rows, n_nonzero_rows = view_nonzero_rows(tables, workspace, block - 1)
        sparse_backward(previous, rows, n_nonzero_rows, gradients, previous_gradients, True, layer, row_gradient, rule)


@compile_kernel
def update_bias(tables, workspace, block, n_rows, gradients, parameters, rule):
    """Update the bias of a layer by Σ ∂L/∂z."""
    row_gradient = workspace.row_gradient[: tables.layers[block, OUTPUTS]]
    sum_columns(gradients, n_rows, row_gradient)
    update_slice(rule, parameters, tables.layers[block, BIAS], row_gradient)


def first_block_forward(conv, tables, workspace, n_rows, weights):
    """Compute the first block, and list its nonzero values; to be called by kernels only."""
    raise NotImplementedError


@overload(first_block_forward, jit_options=INNER_OPTIONS)  # type: ignore[arg-type]
def _choose_forward(conv, tables, workspace, n_rows, weights):
    return as_python_function(_features_forward if conv == NO_CONVOLUTIONS else _images_forward)


def _features_forward(conv, tables, workspace, n_rows, weights):
    """Compute the first block by a dense layer, or by copying the instances."""
    values = view_block(workspace.activations, tables, workspace, 0)
    mask = view_block(workspace.dropout_masks, tables, workspace, 0)
    columns, n_nonzero_columns = (
        view_block(workspace.nonzero_columns, tables, workspace, 0),
        workspace.n_nonzero_columns[0],
    )
    rows, n_nonzero_rows = view_nonzero_rows(tables, workspace, 0)
    scale = tables.dropout_scales[0]
    if tables.layers.shape[0] == 0:
        copy_instances(
            workspace.instances, n_rows, mask, scale, values, columns, n_nonzero_columns, rows, n_nonzero_rows
        )
        return
    inputs, outputs = tables.layers[0, INPUTS], tables.layers[0, OUTPUTS]
    start, bias_start = tables.layers[0, WEIGHTS], tables.layers[0, BIAS]
    matrix, bias = view_matrix(weights, start, outputs, inputs), weights[bias_start : bias_start + outputs]
    dense_forward(workspace.instances, n_rows, matrix, bias, mask, workspace.selected_rows, values)
    relu_dropout_forward(values, n_rows, mask, scale, columns, n_nonzero_columns, rows, n_nonzero_rows)


def _images_forward(conv, tables, workspace, n_rows, weights):
    """Compute the first block by convolutions, and flatten their maps."""
    values = view_block(workspace.activations, tables, workspace, 0)
    mask = view_block(workspace.dropout_masks, tables, workspace, 0)
    columns, n_nonzero_columns = (
        view_block(workspace.nonzero_columns, tables, workspace, 0),
        workspace.n_nonzero_columns[0],
    )
    rows, n_nonzero_rows = view_nonzero_rows(tables, workspace, 0)
    conv_forward(tables, workspace, n_rows, weights)
    flatten_maps(tables, workspace, n_rows, values)
    scale = tables.dropout_scales[0]
    relu_dropout_forward(values, n_rows, mask, scale, columns, n_nonzero_columns, rows, n_nonzero_rows)


@compile_kernel
def copy_instances(
    instances, n_rows, mask, scale, values, nonzero_columns, n_nonzero_columns, nonzero_rows, n_nonzero_rows
):
    """Compute the block of an encoder without layers: the instances after dropout."""
    for k in range(n_rows):
        for column in range(instances.shape[1]):
            values[k, column] = instances[k, column] * scale * mask[k, column]
    list_nonzero(values, n_rows, nonzero_columns, n_nonzero_columns, nonzero_rows, n_nonzero_rows)


def first_block_backward(conv, tables, workspace, n_rows, gradients, parameters, rule):
    """Update the parameters of the first block from its gradients before ReLU; to be called by kernels only."""
    raise NotImplementedError


@overload(first_block_backward, jit_options=INNER_OPTIONS)  # type: ignore[arg-type]
def _choose_backward(conv, tables, workspace, n_rows, gradients, parameters, rule):
    return as_python_function(_features_backward if conv == NO_CONVOLUTIONS else _images_backward)


def _features_backward(conv, tables, workspace, n_rows, gradients, parameters, rule):
    """Update the first dense layer."""
    update_bias(tables, workspace, 0, n_rows, gradients, parameters, rule)
    inputs, outputs, start = tables.layers[0, INPUTS], tables.layers[0, OUTPUTS], tables.layers[0, WEIGHTS]
    layer, row_gradient = view_parameters(parameters, start, outputs, inputs), workspace.row_gradient[:inputs]
    rows, n_nonzero_rows = view_nonzero_rows(tables, workspace, 0)
    dense_backward(workspace.instances, rows, n_nonzero_rows, gradients, layer, row_gradient, rule)


def _images_backward(conv, tables, workspace, n_rows, gradients, parameters, rule):
    conv_backward(tables, workspace, n_rows, gradients, parameters, rule)
