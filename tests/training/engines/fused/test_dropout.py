import numpy as np
import pytest
import torch

pytest.importorskip("numba")
from numba import njit

from bagwise.nn.dropout import Dropout, StreamPosition, set_stream_position
from bagwise.nn.random_streams import Purpose, random_bits
from bagwise.training.engines.fused.dropout import multiply_high, sample_dropout_mask


@njit
def call_sample_dropout_mask(mask, seed, stream, step, threshold):
    sample_dropout_mask(mask, mask.shape[0], seed, stream, step, threshold)


@njit
def call_multiply_high(left, right):
    return multiply_high(left, right)


def make_mask(shape, seed, stream, step, p):
    mask = np.zeros(shape, np.uint8)
    call_sample_dropout_mask(mask, *map(np.uint64, (seed, stream, step, round(p * (1 << 32)))))
    return mask


@pytest.mark.parametrize("columns", [1, 7, 8, 9, 64, 131])
@pytest.mark.parametrize(("seed", "stream", "step"), [(0, 0, 0), (5, 2, 12345), ((1 << 63) - 1, 7, 1 << 40)])
def test_sample_dropout_mask_uses_the_bits_of_random_bits(columns, seed, stream, step):
    expected = random_bits(seed, Purpose.DROPOUT, (stream, step, 0), 0, (6, columns)) >= round(0.3 * (1 << 32))
    np.testing.assert_array_equal(make_mask((6, columns), seed, stream, step, 0.3), expected)


def test_sample_dropout_mask_matches_the_dropout_module():
    module = Dropout(0.5).train()
    set_stream_position(module, StreamPosition(seed=9, step=4))
    values = module(torch.ones(5, 37))
    np.testing.assert_array_equal(make_mask((5, 37), 9, 0, 4, 0.5), values.numpy() > 0)


def test_multiply_high_is_exact():
    for left, right in [(3, 5), ((1 << 64) - 1, (1 << 64) - 1), (0xD2E7470EE14C6C93, 0x123456789ABCDEF0)]:
        assert int(call_multiply_high(np.uint64(left), np.uint64(right))) == left * right >> 64
