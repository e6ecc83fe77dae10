import numpy as np
import pytest

pytest.importorskip("numba")
from numba import njit

from bagwise.training.fused.functions import sigmoid_row, tanh_row


@njit
def tanhs(values):
    tanh_row(values)


@njit
def sigmoids(values):
    sigmoid_row(values)


def everywhere(dtype):
    return np.concatenate([np.linspace(-12, 12, 200_001), np.logspace(-30, 0, 20_001), [0.0]]).astype(dtype)


def test_tanh_of_float32_is_within_a_few_units_in_the_last_place_and_never_beyond_one():
    values = everywhere(np.float32)
    found = values.copy()
    tanhs(found)
    exact = np.tanh(values.astype(np.float64))
    assert (np.abs(found - exact) <= 7 * np.spacing(np.abs(exact).astype(np.float32))).all()
    assert np.abs(found).max() <= 1


def test_tanh_of_float64_is_the_librarys():
    values = everywhere(np.float64)
    found = values.copy()
    tanhs(found)
    np.testing.assert_allclose(found, np.tanh(values), rtol=1e-15)


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float32, 3e-7), (np.float64, 3e-16)])
def test_sigmoid(dtype, tolerance):
    values = everywhere(dtype)
    found = values.copy()
    sigmoids(found)
    np.testing.assert_allclose(found, 1 / (1 + np.exp(-values.astype(np.float64))), rtol=0, atol=tolerance)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_nan_stays_and_infinities_saturate(dtype):
    values = np.array([np.nan, np.inf, -np.inf], dtype)
    tanhs(values)
    assert np.isnan(values[0])
    np.testing.assert_allclose(values[1:], [1, -1], atol=3e-7)
