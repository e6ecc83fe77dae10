import numpy as np
import pytest

pytest.importorskip("numba")
from numba import njit

from bagwise.training.fused.layers import apply_dense, apply_sparse, rectify, retreat_dense, retreat_sparse
from bagwise.training.fused.rules import SGD

N_ROWS, INPUTS, OUTPUTS = 11, 13, 6
PLAIN = (1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0)  # w ← w − gradient


@njit
def dense(rows, weights, bias, kept, chosen, outputs):
    apply_dense(rows, rows.shape[0], weights, bias, kept, chosen, outputs)


@njit
def sparse(rows, active, counts, weights, outputs):
    apply_sparse(rows, active, counts, rows.shape[0], weights, outputs)


@njit
def rectified(values, kept, scale, active, counts, members, sizes):
    rectify(values, values.shape[0], kept, scale, active, counts, members, sizes)


@njit
def back_dense(rows, members, sizes, slopes, weights, moment, gradient, numbers):
    retreat_dense(rows, members, sizes, slopes, weights, moment, moment, gradient, SGD, numbers)


@njit
def back_sparse(rows, members, sizes, slopes, back, weights, moment, gradient, numbers):
    retreat_sparse(rows, members, sizes, slopes, back, True, weights, moment, moment, gradient, SGD, numbers)


def silenced(seed=0, share=0.6):
    """Rows of which most values are zero, with their lists."""
    generator = np.random.default_rng(seed)
    values, kept = generator.normal(size=(N_ROWS, INPUTS)), (generator.random((N_ROWS, INPUTS)) < share)
    expected = np.maximum(values, 0) * kept * 2
    active, counts = np.zeros((N_ROWS, INPUTS), np.uint32), np.zeros(N_ROWS, np.int64)
    members, sizes = np.zeros((INPUTS, N_ROWS), np.uint32), np.zeros(INPUTS, np.int64)
    rectified(values, kept.astype(np.uint8), 2.0, active, counts, members, sizes)
    np.testing.assert_array_equal(values, expected)
    return values, active, counts, members, sizes


@pytest.mark.parametrize("share", [0.0, 0.6, 1.0])
def test_the_lists_name_what_is_not_zero(share):
    values, active, counts, members, sizes = silenced(share=share)
    for k in range(N_ROWS):
        assert active[k, : counts[k]].tolist() == np.flatnonzero(values[k]).tolist()
    for column in range(INPUTS):
        assert members[column, : sizes[column]].tolist() == np.flatnonzero(values[:, column]).tolist()


def test_nan_is_neither_silenced_by_relu_nor_lost():
    values = np.array([[np.nan, -1.0]])
    lists = np.zeros((1, 2), np.uint32), np.zeros(1, np.int64), np.zeros((2, 1), np.uint32), np.zeros(2, np.int64)
    rectified(values, np.ones((1, 2), np.uint8), 1.0, *lists)
    assert np.isnan(values[0, 0])
    assert values[0, 1] == 0


def test_products_forward():
    generator = np.random.default_rng(1)
    values, active, counts, _, _ = silenced()
    weights, outputs = generator.normal(size=(INPUTS, OUTPUTS)), np.zeros((N_ROWS, OUTPUTS))
    sparse(values, active, counts, weights, outputs)
    np.testing.assert_allclose(outputs, values @ weights, rtol=1e-12, atol=1e-12)
    kept, bias, chosen = (
        generator.random((N_ROWS, INPUTS)) < 0.5,
        generator.normal(size=INPUTS),
        np.zeros(N_ROWS + 1, np.uint32),
    )
    back = np.zeros((N_ROWS, INPUTS))
    dense(outputs, weights, bias, kept.astype(np.uint8), chosen, back)
    np.testing.assert_allclose(back, (outputs @ weights.T + bias) * kept, rtol=1e-12, atol=1e-12)


def test_products_backward_use_the_weights_of_before_the_update():
    generator = np.random.default_rng(2)
    values, _, _, members, sizes = silenced()
    weights, slopes = generator.normal(size=(INPUTS, OUTPUTS)), generator.normal(size=(N_ROWS, OUTPUTS))
    before, back = weights.copy(), np.zeros((N_ROWS, INPUTS))
    back_sparse(values, members, sizes, slopes, back, weights, np.zeros_like(weights), np.zeros(OUTPUTS), PLAIN)
    np.testing.assert_allclose(back, (slopes @ before.T) * (values != 0), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(before - weights, values.T @ slopes, rtol=1e-11, atol=1e-12)
    first = generator.normal(size=(INPUTS, OUTPUTS))
    before = first.copy()
    back_dense(slopes, members, sizes, values, first, np.zeros_like(first), np.zeros(OUTPUTS), PLAIN)
    np.testing.assert_allclose(before - first, values.T @ slopes, rtol=1e-11, atol=1e-12)
