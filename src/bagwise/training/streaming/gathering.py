"""Rows that come piece by piece, laid into one array.

A list of many small tensors would stand scattered over the memory that the pieces before them left free, and keep it
from being used again.
"""

from jaxtyping import Shaped
from torch import Tensor


class Gathered:
    """An array of so many rows, filled from its beginning.

    >>> import torch
    >>> gathered = Gathered(3)
    >>> gathered.add(torch.ones(2, 1)); gathered.add(torch.zeros(1, 1))
    >>> gathered.rows.ravel()
    tensor([1., 1., 0.])
    """

    rows: Tensor

    def __init__(self, n_rows: int) -> None:
        self.n_rows = n_rows
        self.filled = 0

    def add(self, rows: Shaped[Tensor, "n columns"]) -> None:
        """Take the next rows; the first ones decide the number of columns and the type."""
        if self.filled == 0:
            self.rows = rows.new_empty(self.n_rows, rows.shape[1])
        self.rows[self.filled : self.filled + len(rows)] = rows
        self.filled += len(rows)
