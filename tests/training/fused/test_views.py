import numpy as np
import pytest

pytest.importorskip("numba")
from numba import njit

from bagwise.training.fused.views import matrix


@njit
def doubled(flat, start, rows, columns):
    part = matrix(flat, start, rows, columns)
    for row in range(rows):
        for column in range(columns):
            part[row, column] *= 2
    return part.shape


def test_a_matrix_is_the_memory_of_the_flat_array():
    flat = np.arange(12, dtype=np.float32)
    assert doubled(flat, 3, 2, 4) == (2, 4)
    assert flat.tolist() == [0, 1, 2, *(2 * np.arange(3, 11)).tolist(), 11]
