import numpy as np

from bagwise.bags.bags import Bags
from bagwise.bags.signatures import MAX_HASHED_ROWS, compute_signatures

BAGS = Bags.from_list([np.random.default_rng(n).normal(size=(n + 1, 3)).astype(np.float32) for n in range(40)])


def test_signatures_belong_to_the_content_not_to_the_place_the_name_or_the_type():
    signatures = compute_signatures(BAGS)
    assert len(set(signatures.tolist())) == len(BAGS)
    chosen = [7, 3, 7]
    other = BAGS[[7, 3]].replace(instances=BAGS[[7, 3]].instances.astype(np.float64), names=["a", "b"])
    np.testing.assert_array_equal(compute_signatures(BAGS[chosen]), signatures[chosen])
    np.testing.assert_array_equal(compute_signatures(other), signatures[[7, 3]])


def test_signatures_differ_if_a_hashed_value_or_the_order_or_the_size_differs():
    instances = BAGS[MAX_HASHED_ROWS - 1]
    changed = instances.copy()
    changed[5, 1] += 1
    variants = Bags.from_list([instances, changed, instances[::-1], instances[:-1]])
    assert len(set(compute_signatures(variants).tolist())) == 4


def test_compute_signatures_reads_few_rows_of_a_large_bag():
    """The rows of the bag are views of one value, so that reading them all would allocate 8 TB."""
    rows = np.broadcast_to(np.zeros(1000), (10**9, 1000))
    bags = Bags.trusted(instances=rows, offsets=np.array([0, 10**9]))
    assert compute_signatures(bags).shape == (1,)
