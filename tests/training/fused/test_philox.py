import numpy as np
import pytest

pytest.importorskip("numba")
from numba import njit

from bagwise.dropout import Dropout
from bagwise.places import Place, set_place
from bagwise.randomness import Purpose, bits
from bagwise.training.fused.philox import draw_kept, high_product


@njit
def drawn(kept, seed, layer, step, threshold):
    draw_kept(kept, kept.shape[0], seed, layer, step, threshold)


@njit
def upper_half(one, other):
    return high_product(one, other)


def kept(shape, seed, layer, step, p):
    found = np.zeros(shape, np.uint8)
    drawn(found, *map(np.uint64, (seed, layer, step, round(p * (1 << 32)))))
    return found


@pytest.mark.parametrize("columns", [1, 7, 8, 9, 64, 131])
@pytest.mark.parametrize(("seed", "layer", "step"), [(0, 0, 0), (5, 2, 12345), ((1 << 63) - 1, 7, 1 << 40)])
def test_the_bits_are_those_of_randomness(columns, seed, layer, step):
    expected = bits(seed, Purpose.DROPOUT, (layer, step, 0), 0, (6, columns)) >= round(0.3 * (1 << 32))
    np.testing.assert_array_equal(kept((6, columns), seed, layer, step, 0.3), expected)


def test_what_is_kept_is_what_the_module_keeps():
    import torch

    module = Dropout(0.5).train()
    set_place(module, Place(seed=9, step=4))
    values = module(torch.ones(5, 37))
    np.testing.assert_array_equal(kept((5, 37), 9, 0, 4, 0.5), values.numpy() > 0)


def test_the_upper_half_of_a_product_is_exact():
    for one, other in [(3, 5), ((1 << 64) - 1, (1 << 64) - 1), (0xD2E7470EE14C6C93, 0x123456789ABCDEF0)]:
        assert int(upper_half(np.uint64(one), np.uint64(other))) == one * other >> 64
