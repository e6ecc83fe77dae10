"""Bags cut into pieces of bounded size: several small bags together, a large one in runs of its rows.

Rows of a memory-mapped file are not copied: a run of rows is a view, and so is a whole bag.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from bagwise.bags import Bags
from bagwise.training.batches import by_rows


class Piece(NamedTuple):
    """Whole bags, or a run of one bag's rows."""

    bags: Bags
    which: slice  # of the chosen bags
    first_row: int  # among the rows of all chosen bags
    continues: bool  # the bag of the piece before


def pieces(bags: Bags, chosen: np.ndarray, most: int) -> Iterator[Piece]:
    """The chosen bags, in their order, in pieces of at most so many rows.

    >>> bags = Bags.from_list([[[1.0], [2.0], [3.0]], [[4.0]], [[5.0]]])
    >>> [(piece.bags.instances.ravel().tolist(), piece.continues) for piece in pieces(bags, np.arange(3), most=2)]
    [([1.0, 2.0], False), ([3.0], True), ([4.0, 5.0], False)]
    """
    first_row = 0
    for which in by_rows(bags.sizes[chosen], most):
        together = bags[chosen[which]]
        for start in range(0, together.n_instances, most):
            part = together if together.n_instances <= most else _run(together, start, most)
            yield Piece(part, which, first_row + start, continues=start > 0)
        first_row += together.n_instances


def _run(bag: Bags, start: int, most: int) -> Bags:
    rows = bag.instances[start : start + most]
    return Bags.trusted(instances=rows, offsets=np.array([0, len(rows)]))
