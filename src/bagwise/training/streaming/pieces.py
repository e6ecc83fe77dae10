"""Pieces of bags with a limited number of rows: several small bags together, or consecutive rows of a large bag.

Rows of a memory-mapped file are not copied if they are consecutive: a piece is then a view.
"""

from collections.abc import Iterator
from typing import NamedTuple, TypeGuard

import numpy as np
import torch
from jaxtyping import Shaped
from torch import Tensor, nn

from bagwise.bags import Bags
from bagwise.nn import BagModel, Offsets
from bagwise.nn.pooling import AdditivePooling, Terms
from bagwise.training.batches import bags_to_tensors, group_by_rows


class BagPiece(NamedTuple):
    """Whole bags, or consecutive rows of one bag.

    Attributes
    ----------
    bags : Bags
        Rows of the piece.
    which : slice
        Indices of the bags of the piece within the chosen bags.
    first_row : int
        Index of the first row within the rows of all chosen bags.
    continues : bool
        Whether the piece continues the bag of the previous piece.
    """

    bags: Bags
    which: slice
    first_row: int
    continues: bool


def cut_pieces(bags: Bags, chosen: np.ndarray, max_rows: int) -> Iterator[BagPiece]:
    """Cut chosen bags into pieces.

    Parameters
    ----------
    bags : Bags
        All bags.
    chosen : ndarray of int
        Indices of the bags, in the order of the pieces.
    max_rows : int
        Maximum number of rows per piece.

    Yields
    ------
    BagPiece
        The next piece.

    Examples
    --------
    >>> bags = Bags.from_list([[[1.0], [2.0], [3.0]], [[4.0]], [[5.0]]])
    >>> pieces = cut_pieces(bags, np.arange(3), max_rows=2)
    >>> [(piece.bags.instances.ravel().tolist(), piece.continues) for piece in pieces]
    [([1.0, 2.0], False), ([3.0], True), ([4.0, 5.0], False)]
    """
    first_row = 0
    for which in group_by_rows(bags.sizes[chosen], max_rows):
        group = bags[chosen[which]]
        for start in range(0, group.n_instances, max_rows):
            part = group if group.n_instances <= max_rows else _select_rows(group, start, max_rows)
            yield BagPiece(bags=part, which=which, first_row=first_row + start, continues=start > 0)
        first_row += group.n_instances


def _select_rows(bag: Bags, start: int, max_rows: int) -> Bags:
    rows = bag.instances[start : start + max_rows]
    return Bags.trusted(instances=rows, offsets=np.array([0, len(rows)]))


class RowCollector:
    """One tensor for rows that are computed piece by piece.

    A list of many small tensors would fragment the memory that earlier pieces have freed, and prevent its reuse.

    Parameters
    ----------
    n_rows : int
        Total number of rows.

    Attributes
    ----------
    rows : Tensor of shape (n_rows, columns)
        The collected rows; set by the first call of ``add``.
    filled : int
        Number of rows added so far.

    Examples
    --------
    >>> import torch
    >>> collector = RowCollector(3)
    >>> collector.add(torch.ones(2, 1)); collector.add(torch.zeros(1, 1))
    >>> collector.rows.ravel()
    tensor([1., 1., 0.])
    """

    rows: Tensor

    def __init__(self, n_rows: int) -> None:
        self.n_rows = n_rows
        self.filled = 0

    def add(self, rows: Shaped[Tensor, "n columns"]) -> None:
        """Add the next rows.

        Parameters
        ----------
        rows : Tensor of shape (n, columns)
            Rows to add; the first ones determine the number of columns, the dtype and the device.
        """
        if self.filled == 0:
            self.rows = rows.new_empty(self.n_rows, rows.shape[1])
        self.rows[self.filled : self.filled + len(rows)] = rows
        self.filled += len(rows)


def is_streamable(model: nn.Module) -> TypeGuard[BagModel]:
    """Return whether a model can read a bag in pieces; this depends on its pooling and its context.

    Parameters
    ----------
    model : nn.Module
        Model to check.

    Returns
    -------
    bool
        True for a ``BagModel`` with an ``AdditivePooling`` and without a context that needs whole bags.
    """
    return isinstance(model, BagModel) and not model.find_streaming_obstacle()


def get_additive_pooling(model: BagModel) -> AdditivePooling:
    """Return the pooling of a streamable model.

    Parameters
    ----------
    model : BagModel
        Streamable model (see ``is_streamable``).

    Returns
    -------
    AdditivePooling
        The pooling.
    """
    assert isinstance(model.pooling, AdditivePooling)
    return model.pooling


def compute_terms(model: BagModel, piece: BagPiece, device: torch.device) -> tuple[Terms, Offsets]:
    """Compute the terms of the instances of a piece, and the offsets of its bags."""
    instances, offsets = bags_to_tensors(piece.bags, device)
    return get_additive_pooling(model).terms(model.embed(instances, offsets)), offsets
