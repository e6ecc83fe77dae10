"""Philox4x64-10 (Salmon et al. 2011), the bits of ``randomness.bits``: which values dropout keeps.

A round multiplies two words of the counter by constants and mixes the halves of the products with the key; the key
grows by constants after each of ten rounds. NumPy adds one to its counter before the first block, and so do we.
"""

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from bagwise.randomness import Purpose
from bagwise.training.fused.compiling import compiled

ROUNDS = 10
FIRST_FACTOR, SECOND_FACTOR = np.uint64(0xD2E7470EE14C6C93), np.uint64(0xCA5A826395121157)
FIRST_GROWTH, SECOND_GROWTH = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBB67AE8584CAA73B)
PURPOSE, ONE, HALF_A_WORD, LOW_HALF = np.uint64(Purpose.DROPOUT), np.uint64(1), np.uint64(32), np.uint64(0xFFFFFFFF)
NUMBERS_A_BLOCK = 8  # four words of two 32-bit numbers each


@intrinsic
def high_product(context, one, other):
    """The upper 64 bits of the product of two 64-bit numbers."""

    def generate(context, builder, signature, arguments):
        wide = ir.IntType(128)
        product = builder.mul(*(builder.zext(value, wide) for value in arguments))
        return builder.trunc(builder.lshr(product, ir.Constant(wide, 64)), ir.IntType(64))

    return types.uint64(types.uint64, types.uint64), generate


@compiled
def words(seed, position, layer, step):
    """The four words of one block; ``position`` counts blocks from 0."""
    first, second, third, fourth = position + ONE, layer, step, np.uint64(0)
    key, other_key = seed, PURPOSE
    for _ in range(ROUNDS):
        high, low = high_product(FIRST_FACTOR, first), FIRST_FACTOR * first
        other_high, other_low = high_product(SECOND_FACTOR, third), SECOND_FACTOR * third
        first, second, third, fourth = other_high ^ second ^ key, other_low, high ^ fourth ^ other_key, low
        key, other_key = key + FIRST_GROWTH, other_key + SECOND_GROWTH
    return first, second, third, fourth


@compiled
def compare_all(kept, drawn, threshold):
    """The eight numbers of a block; of each word the lower half comes first."""
    one, two, three, four = drawn
    kept[0], kept[1] = (one & LOW_HALF) >= threshold, (one >> HALF_A_WORD) >= threshold
    kept[2], kept[3] = (two & LOW_HALF) >= threshold, (two >> HALF_A_WORD) >= threshold
    kept[4], kept[5] = (three & LOW_HALF) >= threshold, (three >> HALF_A_WORD) >= threshold
    kept[6], kept[7] = (four & LOW_HALF) >= threshold, (four >> HALF_A_WORD) >= threshold


@compiled
def draw_kept(kept, n_rows, seed, layer, step, threshold):
    """Fill rows of (rows, columns) bytes: 1 where dropout keeps the value, 0 where it silences it."""
    columns = kept.shape[1]
    blocks = (columns + NUMBERS_A_BLOCK - 1) // NUMBERS_A_BLOCK
    for row in range(n_rows):
        for block in range(blocks):
            drawn = words(seed, np.uint64(row * blocks + block), layer, step)
            first = block * NUMBERS_A_BLOCK
            if first + NUMBERS_A_BLOCK <= columns:
                compare_all(kept[row, first : first + NUMBERS_A_BLOCK], drawn, threshold)
            else:
                for number in range(columns - first):
                    word = drawn[number // 2] >> HALF_A_WORD if number % 2 else drawn[number // 2] & LOW_HALF
                    kept[row, first + number] = word >= threshold
