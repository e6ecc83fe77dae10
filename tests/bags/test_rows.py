"""Reading of rows in blocks, and as views."""

import numpy as np
import pytest

from bagwise.bags.bags import Bags

BAGS = Bags.from_list([[[1.0], [2.0], [3.0]], [[4.0]], [[5.0], [6.0]]], labels=[0, 1, 0])


@pytest.mark.parametrize("bags", [BAGS, BAGS[[2, 0]], BAGS[:0]], ids=["packed", "scattered", "none"])
@pytest.mark.parametrize("max_rows", [1, 2, 4, 100])
def test_iterate_blocks_reads_all_rows_in_order(bags, max_rows):
    blocks = list(bags.iterate_blocks(max_rows))
    assert all(len(block) == max_rows for block in blocks[:-1])
    np.testing.assert_array_equal(np.concatenate([bags.instances[:0], *blocks]), bags.instances)


def test_view_returns_none_for_a_field_that_the_bags_do_not_have():
    assert BAGS.view("positions") is BAGS.view("instance_labels") is None
    assert len(BAGS.view()) == BAGS.n_instances == 6


def test_bags_report_the_size_and_type_of_their_instances():
    selected = BAGS[[2, 0]]
    assert (selected.dtype, selected.nbytes, selected.instance_shape) == (np.float64, 40, (1,))
    assert (selected.shape, selected.n_bags, selected.sizes.tolist()) == ((2,), 2, [2, 3])
    assert selected.bag_indices.tolist() == [0, 0, 1, 1, 1]
