"""Weights of attention pooling within each bag, forward and backward.

    attention   a = softmax(wᵀ tanh(V hᵀ))        gated   a = softmax(wᵀ (tanh(V hᵀ) ⊙ sigm(U hᵀ)))

The values before the softmax are called *logits*. Mean pooling uses the same weighted sum with a = 1/K.
"""

import math

from bagwise.training.engines.fused.compilation import (
    compile_kernel,
    view_block,
    view_matrix,
    view_nonzero_rows,
    view_parameters,
)
from bagwise.training.engines.fused.dense import sparse_backward, sparse_forward
from bagwise.training.engines.fused.model_tables import ATTENTION, GATED
from bagwise.training.engines.fused.optimizers import update_slice
from bagwise.training.engines.fused.simd import sigmoid_row, tanh_row


@compile_kernel
def compute_instance_weights(tables, workspace, n_bags, n_rows, weights):
    """Compute ``instance_weights``: by attention, or 1/K."""
    if tables.pooling >= ATTENTION:
        attention_forward(tables, workspace, n_bags, n_rows, weights)
        return
    for bag in range(n_bags):
        start, end = workspace.offsets[bag], workspace.offsets[bag + 1]
        workspace.instance_weights[start:end] = 1.0 / (end - start)


@compile_kernel
def attention_forward(tables, workspace, n_bags, n_rows, weights):
    """Compute the attention weights a and store them in ``instance_weights``."""
    attention = tables.attention
    logit_weights = weights[attention.w : attention.w + attention.width]
    for gated in range(2 if tables.pooling == GATED else 1):  # one call in the code, because every call is inlined
        start, outputs = (attention.U, workspace.gate) if gated else (attention.V, workspace.tanh)
        project_forward(tables, workspace, n_rows, start, attention.width, weights, outputs)
    for k in range(n_rows):
        tanh_row(workspace.tanh[k])
        if tables.pooling == GATED:
            sigmoid_row(workspace.gate[k])
        logit = _compute_logit(tables.pooling, workspace.tanh[k], workspace.gate[k], logit_weights)
        workspace.instance_weights[k] = logit
    for bag in range(n_bags):
        _softmax_forward(workspace.instance_weights[workspace.offsets[bag] : workspace.offsets[bag + 1]])


@compile_kernel
def attention_backward(tables, workspace, n_bags, n_rows, parameters, rule):
    """Propagate ``instance_weight_gradients`` back to the blocks, and update V, U and w."""
    attention = tables.attention
    for bag in range(n_bags):
        part = slice(workspace.offsets[bag], workspace.offsets[bag + 1])
        _softmax_backward(workspace.instance_weights[part], workspace.instance_weight_gradients[part])
    logit_weights = parameters.weights[attention.w : attention.w + attention.width]
    row_gradient = workspace.row_gradient[: attention.width]
    row_gradient[:] = 0
    for k in range(n_rows):
        gradient, tanh, gate = workspace.instance_weight_gradients[k], workspace.tanh[k], workspace.gate[k]
        tanh_gradients, gate_gradients = workspace.tanh_gradients[k], workspace.gate_gradients[k]
        if tables.pooling == GATED:
            _gate_backward(gradient, tanh, gate, logit_weights, row_gradient, tanh_gradients, gate_gradients)
        else:
            _tanh_backward(gradient, tanh, logit_weights, row_gradient, tanh_gradients)
    update_slice(rule, parameters, attention.w, row_gradient)
    for gated in range(2 if tables.pooling == GATED else 1):  # one call in the code, because every call is inlined
        start = attention.U if gated else attention.V
        gradients = workspace.gate_gradients if gated else workspace.tanh_gradients
        project_backward(tables, workspace, start, attention.width, gradients, parameters, rule)


@compile_kernel
def project_forward(tables, workspace, n_rows, start, width, weights, outputs):
    """Compute outputs = embeddings · weights, block by block."""
    for k in range(n_rows):
        outputs[k, :] = 0
    for block in range(tables.first_pooled_block, tables.block_widths.shape[0]):
        inputs = tables.block_widths[block]
        rows = view_matrix(weights, start, inputs, width)
        values = view_block(workspace.activations, tables, workspace, block)
        nonzero_columns = view_block(workspace.nonzero_columns, tables, workspace, block)
        sparse_forward(values, nonzero_columns, workspace.n_nonzero_columns[block], n_rows, rows, outputs)
        start += inputs * width


@compile_kernel
def project_backward(tables, workspace, start, width, gradients, parameters, rule):
    """Propagate gradients back through ``project_forward``, and update its weights."""
    propagate = tables.layers.shape[0] > 0
    for block in range(tables.first_pooled_block, tables.block_widths.shape[0]):
        inputs = tables.block_widths[block]
        layer = view_parameters(parameters, start, inputs, width)
        values = view_block(workspace.activations, tables, workspace, block)
        value_gradients = view_block(workspace.activation_gradients, tables, workspace, block)
        nonzero_rows, n_nonzero_rows = view_nonzero_rows(tables, workspace, block)
        row_gradient = workspace.row_gradient[:width]
        sparse_backward(
            values, nonzero_rows, n_nonzero_rows, gradients, value_gradients, propagate, layer, row_gradient, rule
        )
        start += inputs * width


@compile_kernel
def _compute_logit(pooling, tanh, gate, logit_weights):
    total = tanh.dtype.type(0)
    if pooling == GATED:
        for i in range(tanh.shape[0]):
            total += logit_weights[i] * (tanh[i] * gate[i])
    else:
        for i in range(tanh.shape[0]):
            total += logit_weights[i] * tanh[i]
    return total


@compile_kernel
def _tanh_backward(gradient, tanh, logit_weights, row_gradient, tanh_gradients):
    """Compute the gradients of logit = wᵀ tanh: add to the gradient of w, and write those of V hᵀ."""
    one = tanh.dtype.type(1)
    for i in range(tanh.shape[0]):
        row_gradient[i] += gradient * tanh[i]
        tanh_gradients[i] = gradient * logit_weights[i] * (one - tanh[i] * tanh[i])


@compile_kernel
def _gate_backward(gradient, tanh, gate, logit_weights, row_gradient, tanh_gradients, gate_gradients):
    """Compute the gradients of logit = wᵀ (tanh ⊙ gate): add to that of w, and write those of V hᵀ and U hᵀ."""
    one = tanh.dtype.type(1)
    for i in range(tanh.shape[0]):
        row_gradient[i] += gradient * (tanh[i] * gate[i])
        product_gradient = gradient * logit_weights[i]
        tanh_gradients[i] = product_gradient * gate[i] * (one - tanh[i] * tanh[i])
        gate_gradients[i] = product_gradient * tanh[i] * (gate[i] * (one - gate[i]))


@compile_kernel
def _softmax_forward(values):
    maximum, total = values[0], 0.0
    for k in range(values.shape[0]):
        maximum = max(maximum, values[k])
    for k in range(values.shape[0]):
        values[k] = math.exp(values[k] - maximum)
        total += values[k]
    for k in range(values.shape[0]):
        values[k] /= total


@compile_kernel
def _softmax_backward(outputs, gradients):
    """Compute ∂L/∂s = a ⊙ (∂L/∂a − Σ a ∂L/∂a) in place."""
    mean = 0.0
    for k in range(outputs.shape[0]):
        mean += outputs[k] * gradients[k]
    for k in range(outputs.shape[0]):
        gradients[k] = outputs[k] * (gradients[k] - mean)
