import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from bagwise.bags import Bags
from bagwise.training.batches import by_rows, tensor, tensors


def test_a_read_only_array_is_shared_not_copied():
    array = np.arange(6.0).reshape(3, 2)
    locked = array.view()
    locked.flags.writeable = False
    shared = tensor(locked)
    array[0, 0] = 9.0
    assert shared[0, 0] == 9.0


def test_the_memory_outlives_the_array():
    shared = tensor(np.full((1000, 1000), 3.0))
    assert float(shared.sum()) == 3_000_000.0


def test_bags_become_tensors_of_their_own_dtype():
    bags = Bags.from_list([np.zeros((2, 8, 8), dtype=np.uint8), np.ones((1, 8, 8), dtype=np.uint8)])
    instances, offsets = tensors(bags, torch.device("cpu"))
    assert instances.dtype == torch.uint8
    assert offsets.tolist() == [0, 2, 3]


@given(st.lists(st.integers(1, 20), min_size=1, max_size=30), st.integers(1, 25))
def test_groups_cover_all_bags_in_order_and_stay_small(sizes, most):
    slices = list(by_rows(np.array(sizes), most))
    assert [bag for part in slices for bag in range(part.start, part.stop)] == list(range(len(sizes)))
    for part in slices:
        assert sum(sizes[part]) <= most or part.stop - part.start == 1
