import numpy as np
import pytest

pytest.importorskip("numba")
from numba import njit, types

from bagwise.training.fused.beginning import _begin, _end, take


@njit
def taken(rows, n_rows, kept, scale, values, active, counts, members, sizes):
    take(rows, n_rows, kept, scale, values, active, counts, members, sizes)


@pytest.mark.parametrize(("choose", "n_arguments"), [(_begin, 4), (_end, 7)])
def test_kernels_of_convolution_are_for_plans_with_stages_alone(choose, n_arguments):
    """Whoever trains no images does not wait until their kernels are compiled."""
    rest = [None] * n_arguments
    by_rows, by_images = choose(types.Tuple(()), *rest), choose(types.Tuple((types.int64,)), *rest)
    assert not {"convolve", "retreat_stages"} & set(by_rows.__code__.co_names)
    assert {"convolve", "retreat_stages"} & set(by_images.__code__.co_names)


def test_an_encoder_without_layers_takes_the_rows_that_dropout_keeps():
    rows, kept = np.array([[1.0, 0.0, -3.0], [4.0, 5.0, 6.0]]), np.array([[1, 1, 1], [0, 1, 1]], np.uint8)
    values, active, members = np.zeros((2, 3)), np.zeros((2, 3), np.int64), np.zeros((3, 2), np.int64)
    counts, sizes = np.zeros(2, np.int64), np.ones(3, np.int64)
    taken(rows, 2, kept, 2.0, values, active, counts, members, sizes)
    assert values.tolist() == [[2, 0, -6], [0, 10, 12]]
    assert [active[k, : counts[k]].tolist() for k in range(2)] == [[0, 2], [1, 2]]
    assert [members[column, : sizes[column]].tolist() for column in range(3)] == [[0], [1], [0, 1]]
