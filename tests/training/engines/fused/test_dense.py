import numpy as np
import pytest

pytest.importorskip("numba")
from numba import njit

from bagwise.training.engines.fused.dense import (
    dense_backward,
    dense_forward,
    relu_dropout_backward,
    relu_dropout_forward,
    sparse_backward,
    sparse_forward,
    sum_columns,
)
from bagwise.training.engines.fused.model_tables import ParameterBuffer
from bagwise.training.engines.fused.optimizers import SGD, UpdateRule

N_ROWS, INPUTS, OUTPUTS = 11, 13, 6
PLAIN = UpdateRule(  # w ← w − gradient
    optimizer=SGD,
    learning_rate=1.0,
    second_scale=1.0,
    weight_decay=0.0,
    momentum=0.0,
    second_momentum=0.0,
    epsilon=0.0,
    momentum_complement=1.0,
    second_complement=1.0,
)


@njit
def call_dense_forward(rows, weights, bias, mask, selected, outputs):
    dense_forward(rows, rows.shape[0], weights, bias, mask, selected, outputs)


@njit
def call_dense_backward(rows, nonzero_rows, counts, gradients, layer, row_gradient, rule):
    dense_backward(rows, nonzero_rows, counts, gradients, layer, row_gradient, rule)


@njit
def call_sparse_forward(rows, nonzero_columns, counts, weights, outputs):
    sparse_forward(rows, nonzero_columns, counts, rows.shape[0], weights, outputs)


@njit
def call_sparse_backward(rows, nonzero_rows, counts, gradients, input_gradients, layer, row_gradient, rule):
    sparse_backward(rows, nonzero_rows, counts, gradients, input_gradients, True, layer, row_gradient, rule)


@njit
def call_relu_dropout(values, gradients, mask, scale, columns, n_columns, rows, n_rows):
    relu_dropout_forward(values, values.shape[0], mask, scale, columns, n_columns, rows, n_rows)
    relu_dropout_backward(gradients, values.shape[0], scale)


@njit
def call_sum_columns(rows, n_rows, total):
    sum_columns(rows, n_rows, total)


def test_sum_columns_adds_the_first_rows_and_clears_the_total():
    rows, total = np.arange(12.0).reshape(4, 3), np.full(3, 99.0)
    call_sum_columns(rows, 3, total)
    np.testing.assert_array_equal(total, rows[:3].sum(axis=0))


def make_layer(weights):
    moments = np.zeros_like(weights)
    return ParameterBuffer(weights, moments, moments)


def run_relu_dropout(values, mask):
    """Return the lists of nonzero columns and rows; ``values`` is changed in place."""
    n_rows, n_columns = values.shape
    lists = (
        np.zeros((n_rows, n_columns), np.uint32),
        np.zeros(n_rows, np.int64),
        np.zeros((n_columns, n_rows), np.uint32),
        np.zeros(n_columns, np.int64),
    )
    gradients = np.ones_like(values)
    call_relu_dropout(values, gradients, mask.astype(np.uint8), 2.0, *lists)
    assert (gradients == 2).all()
    columns, n_nonzero_columns, rows, n_nonzero_rows = lists
    return columns, n_nonzero_columns, rows, n_nonzero_rows


def make_sparse_rows(seed=0, share=0.6):
    """Return rows in which most values are zero, and their lists of nonzero values."""
    generator = np.random.default_rng(seed)
    values, mask = generator.normal(size=(N_ROWS, INPUTS)), generator.random((N_ROWS, INPUTS)) < share
    expected = np.maximum(values, 0) * mask * 2
    lists = run_relu_dropout(values, mask)
    np.testing.assert_array_equal(values, expected)
    return values, *lists


@pytest.mark.parametrize("share", [0.0, 0.6, 1.0])
def test_relu_dropout_forward_lists_the_nonzero_values(share):
    values, columns, n_nonzero_columns, rows, n_nonzero_rows = make_sparse_rows(share=share)
    for k in range(N_ROWS):
        assert columns[k, : n_nonzero_columns[k]].tolist() == np.flatnonzero(values[k]).tolist()
    for column in range(INPUTS):
        assert rows[column, : n_nonzero_rows[column]].tolist() == np.flatnonzero(values[:, column]).tolist()


def test_relu_dropout_forward_preserves_nan():
    values = np.array([[np.nan, -1.0]])
    run_relu_dropout(values, np.ones((1, 2)))
    assert np.isnan(values[0, 0])
    assert values[0, 1] == 0


def test_sparse_forward_is_a_matrix_product():
    values, columns, n_nonzero_columns, _, _ = make_sparse_rows()
    weights, outputs = np.random.default_rng(1).normal(size=(INPUTS, OUTPUTS)), np.zeros((N_ROWS, OUTPUTS))
    call_sparse_forward(values, columns, n_nonzero_columns, weights, outputs)
    np.testing.assert_allclose(outputs, values @ weights, rtol=1e-12, atol=1e-12)


def test_dense_forward_is_a_matrix_product_where_the_mask_is_one():
    generator = np.random.default_rng(1)
    rows, weights = generator.normal(size=(N_ROWS, OUTPUTS)), generator.normal(size=(INPUTS, OUTPUTS))
    mask, bias = generator.random((N_ROWS, INPUTS)) < 0.5, generator.normal(size=INPUTS)
    outputs = np.zeros((N_ROWS, INPUTS))
    call_dense_forward(rows, weights, bias, mask.astype(np.uint8), np.zeros(N_ROWS + 1, np.uint32), outputs)
    np.testing.assert_allclose(outputs, (rows @ weights.T + bias) * mask, rtol=1e-12, atol=1e-12)


def test_sparse_backward_propagates_with_the_weights_before_the_update():
    generator = np.random.default_rng(2)
    values, _, _, rows, n_nonzero_rows = make_sparse_rows()
    weights, gradients = generator.normal(size=(INPUTS, OUTPUTS)), generator.normal(size=(N_ROWS, OUTPUTS))
    before, input_gradients = weights.copy(), np.zeros((N_ROWS, INPUTS))
    layer = make_layer(weights)
    call_sparse_backward(values, rows, n_nonzero_rows, gradients, input_gradients, layer, np.zeros(OUTPUTS), PLAIN)
    np.testing.assert_allclose(input_gradients, (gradients @ before.T) * (values != 0), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(before - weights, values.T @ gradients, rtol=1e-11, atol=1e-12)


def test_dense_backward_updates_the_weights_by_the_gradient():
    generator = np.random.default_rng(2)
    values, _, _, rows, n_nonzero_rows = make_sparse_rows()  # used as gradients of the first layer
    inputs, weights = generator.normal(size=(N_ROWS, OUTPUTS)), generator.normal(size=(INPUTS, OUTPUTS))
    before = weights.copy()
    call_dense_backward(inputs, rows, n_nonzero_rows, values, make_layer(weights), np.zeros(OUTPUTS), PLAIN)
    np.testing.assert_allclose(before - weights, values.T @ inputs, rtol=1e-11, atol=1e-12)
