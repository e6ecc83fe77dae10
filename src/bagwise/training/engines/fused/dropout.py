"""Dropout masks from Philox4x64-10 (Salmon et al. 2011), with the bits of ``bagwise.nn.random_streams.random_bits``.

Each of the ten rounds multiplies two words of the counter by constants and combines the halves of the products with the
key. After each round, constants are added to the key. As in NumPy, the counter is incremented before the first block.
"""

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from bagwise.nn import Purpose
from bagwise.training.engines.fused.compilation import compile_kernel

ROUNDS = 10
FIRST_MULTIPLIER, SECOND_MULTIPLIER = np.uint64(0xD2E7470EE14C6C93), np.uint64(0xCA5A826395121157)
FIRST_INCREMENT, SECOND_INCREMENT = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBB67AE8584CAA73B)
PURPOSE, ONE, HALF_WORD, LOW_HALF = np.uint64(Purpose.DROPOUT), np.uint64(1), np.uint64(32), np.uint64(0xFFFFFFFF)
VALUES_PER_BLOCK = 8  # four words of two 32-bit values each


@compile_kernel
def sample_dropout_mask(mask, n_rows, seed, stream, step, threshold):
    """Set a (rows, columns) mask of bytes to 1 where the 32-bit random value is at least the threshold, else to 0."""
    columns = mask.shape[1]
    blocks = (columns + VALUES_PER_BLOCK - 1) // VALUES_PER_BLOCK
    for row in range(n_rows):
        for block in range(blocks):
            words = philox_words(seed, np.uint64(row * blocks + block), stream, step)
            first = block * VALUES_PER_BLOCK
            if first + VALUES_PER_BLOCK <= columns:
                compare_words(mask[row, first : first + VALUES_PER_BLOCK], words, threshold)
            else:
                for i in range(columns - first):
                    value = words[i // 2] >> HALF_WORD if i % 2 else words[i // 2] & LOW_HALF
                    mask[row, first + i] = value >= threshold


@compile_kernel
def compare_words(mask, words, threshold):
    """Compare the eight values of a block with the threshold; the lower half of each word comes first."""
    first, second, third, fourth = words
    mask[0], mask[1] = (first & LOW_HALF) >= threshold, (first >> HALF_WORD) >= threshold
    mask[2], mask[3] = (second & LOW_HALF) >= threshold, (second >> HALF_WORD) >= threshold
    mask[4], mask[5] = (third & LOW_HALF) >= threshold, (third >> HALF_WORD) >= threshold
    mask[6], mask[7] = (fourth & LOW_HALF) >= threshold, (fourth >> HALF_WORD) >= threshold


@compile_kernel
def philox_words(seed, block, stream, step):
    """Return the four words of one block; block numbers start at 0."""
    first, second, third, fourth = block + ONE, stream, step, np.uint64(0)
    first_key, second_key = seed, PURPOSE
    for _ in range(ROUNDS):
        first_high, first_low = multiply_high(FIRST_MULTIPLIER, first), FIRST_MULTIPLIER * first
        second_high, second_low = multiply_high(SECOND_MULTIPLIER, third), SECOND_MULTIPLIER * third
        first, third = second_high ^ second ^ first_key, first_high ^ fourth ^ second_key
        second, fourth = second_low, first_low
        first_key, second_key = first_key + FIRST_INCREMENT, second_key + SECOND_INCREMENT
    return first, second, third, fourth


@intrinsic
def multiply_high(context, left, right):
    """Return the upper 64 bits of the product of two 64-bit integers."""

    def generate(context, builder, signature, arguments):
        wide = ir.IntType(128)
        product = builder.mul(*(builder.zext(value, wide) for value in arguments))
        return builder.trunc(builder.lshr(product, ir.Constant(wide, 64)), ir.IntType(64))

    return types.uint64(types.uint64, types.uint64), generate
