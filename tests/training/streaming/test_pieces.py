import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from bagwise.bags import Bags
from bagwise.storage import load_bags, save_bags
from bagwise.training.streaming.pieces import pieces

sizes_and_order = st.lists(st.integers(1, 9), min_size=1, max_size=8).flatmap(
    lambda sizes: st.tuples(st.just(sizes), st.permutations(range(len(sizes))))
)


def bags_of(sizes):
    rows = np.arange(sum(sizes), dtype=float)[:, None]
    return Bags(rows, np.append(0, np.cumsum(sizes)))


@given(sizes_and_order, st.integers(1, 12))
def test_pieces_hold_the_chosen_rows_in_order_and_say_whose_they_are(given_bags, most):
    sizes, order = given_bags
    bags, chosen = bags_of(sizes), np.array(order)
    expected, row = bags[chosen], 0
    for piece in pieces(bags, chosen, most):
        assert piece.first_row == row
        row += piece.bags.n_instances
        assert piece.bags.n_instances <= most
        np.testing.assert_array_equal(piece.bags.instances, expected.instances[piece.first_row : row])
        starts = np.clip(expected.offsets[piece.which.start : piece.which.stop + 1], piece.first_row, row)
        np.testing.assert_array_equal(piece.bags.offsets, starts - piece.first_row)
        assert piece.continues == (piece.first_row > expected.offsets[piece.which.start])
    assert row == expected.n_instances


def test_rows_of_a_mapped_file_are_not_copied(tmp_path):
    save_bags(bags_of([7, 2, 5]), tmp_path / "bags")
    bags = load_bags(tmp_path / "bags")
    for piece in pieces(bags, np.array([2, 0]), most=3):
        assert np.shares_memory(piece.bags.instances, bags.instances)
