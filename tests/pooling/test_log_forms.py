"""Stable logarithms: the plain formula where it holds, the right limit where it does not."""

import math

import pytest
import torch

from bagwise.pooling.log_forms import SMALL, log_one_minus_exp, log_softplus

POINTS = [-700.0, -200.0, -50.0, -18.5, SMALL, -17.5, -5.0, -1.0, -0.1, 0.0, 0.1, 1.0, 3.0]
dtypes = pytest.mark.parametrize("dtype", [torch.float32, torch.float64])


def with_gradient(function, points, dtype):
    values = torch.tensor(points, dtype=dtype, requires_grad=True)
    result = function(values)
    result.sum().backward()
    return result.detach(), values.grad


@dtypes
def test_log_softplus_is_the_logarithm_of_log_one_plus_exp(dtype):
    points = [*POINTS, 10.0, 19.9, 20.1, 200.0]
    result, gradient = with_gradient(log_softplus, points, dtype)
    plain = [math.log1p(math.exp(point)) for point in points]
    torch.testing.assert_close(result, torch.tensor([math.log(value) for value in plain], dtype=dtype))
    slopes = [1 / (1 + math.exp(-point)) / value for point, value in zip(points, plain, strict=True)]
    torch.testing.assert_close(gradient, torch.tensor(slopes, dtype=dtype))


@dtypes
def test_log_one_minus_exp_is_its_formula(dtype):
    result, gradient = with_gradient(log_one_minus_exp, POINTS, dtype)
    ys = [math.exp(point) for point in POINTS]
    torch.testing.assert_close(result, torch.tensor([math.log(-math.expm1(-y)) for y in ys], dtype=dtype))
    torch.testing.assert_close(gradient, torch.tensor([y / math.expm1(y) for y in ys], dtype=dtype))


def test_both_are_exact_in_float64_on_either_side_of_the_seam():
    points = [SMALL - 2.0, SMALL - 1e-9, SMALL, SMALL + 1e-9, SMALL + 2.0]
    values = torch.tensor(points, dtype=torch.float64)
    softplus = torch.tensor([math.log(math.log1p(math.exp(point))) for point in points], dtype=torch.float64)
    torch.testing.assert_close(log_softplus(values), softplus, rtol=1e-15, atol=0)
    expected = torch.tensor([math.log(-math.expm1(-math.exp(point))) for point in points], dtype=torch.float64)
    torch.testing.assert_close(log_one_minus_exp(values), expected, rtol=1e-15, atol=0)


@dtypes
@pytest.mark.parametrize("function", [log_softplus, log_one_minus_exp])
def test_far_to_the_left_both_are_the_argument_itself(function, dtype):
    points = [-1e30, -1e4, -1000.0]
    result, gradient = with_gradient(function, points, dtype)
    assert result.tolist() == torch.tensor(points, dtype=dtype).tolist()
    assert gradient.tolist() == [1.0] * 3


@dtypes
def test_far_to_the_right_log_one_minus_exp_is_zero_with_no_gradient(dtype):
    result, gradient = with_gradient(log_one_minus_exp, [5.0, 40.0, 80.0], dtype)
    assert result.abs().max() < 1e-30 or result.tolist() == [0.0] * 3
    torch.testing.assert_close(gradient, torch.zeros(3, dtype=dtype))
