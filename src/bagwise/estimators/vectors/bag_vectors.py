"""Bags as vectors: the codes of the instances summed, their signed square root, unit length; then a linear machine.

    v = Σᵢ c(xᵢ)        u = sign(v) √|v|        score = w · u / ‖u‖ + b

What the codes c are is the method's own (miVLAD, miFV). The length is divided out, so that a sum and a mean are the
same. An instance counts by |w · c(x)|, where w belongs to the class that the bag is given: its part, for or against, in
the decision of the sum before root and length, which are shared by all instances.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator

import numpy as np

from bagwise import segments
from bagwise.bags import Bags
from bagwise.estimators.learned import Learned
from bagwise.estimators.vectors.linear_machine import LinearMachine
from bagwise.training.batches import tensor

NUMBERS_AT_ONCE = 1 << 24  # of the codes: 128 MB


class CodeBook(ABC):
    """Base of the codes of instances."""

    @property
    @abstractmethod
    def width(self) -> int:
        """Of a code."""

    @abstractmethod
    def codes(self, rows: np.ndarray) -> np.ndarray:
        """(n_instances, width)."""


class LearnedVectors(Learned):
    """Base of what methods learn that make a vector of a bag."""

    book: CodeBook
    machine: LinearMachine

    def scores(self, bags: Bags) -> np.ndarray:
        return self.machine.scores(bag_vectors(self.book, bags))

    def shares(self, bags: Bags) -> np.ndarray:
        decided = self.scores(bags).argmax(axis=1)  # with two classes there is one w, and its sign does not matter
        codes = (self.book.codes(bags.instances[rows]) for rows, _ in pieces(bags, self.book.width))
        parts = np.concatenate([piece @ self.machine.weights.T for piece in codes])
        return portions(np.abs(parts[np.arange(len(parts)), decided.repeat(bags.sizes)]), bags)


def bag_vectors(book: CodeBook, bags: Bags) -> np.ndarray:
    """(n_bags, width): a vector of unit length for each bag, or of zeros where all codes cancel."""
    sums = np.zeros((len(bags), book.width))
    for rows, owners in pieces(bags, book.width):
        edges = np.clip(bags.offsets[owners.start : owners.stop + 1], rows.start, rows.stop) - rows.start
        sums[owners] += segments.sum(tensor(book.codes(bags.instances[rows])), tensor(edges)).numpy()
    roots = np.sign(sums) * np.sqrt(np.abs(sums))
    lengths = np.linalg.norm(roots, axis=1, keepdims=True)
    return roots / np.where(lengths > 0, lengths, 1.0)


def pieces(bags: Bags, width: int) -> Iterator[tuple[slice, slice]]:
    """Rows whose codes fit into memory at once, and the bags they belong to; a large bag is cut."""
    most = max(1, NUMBERS_AT_ONCE // width)
    for start in range(0, bags.n_instances, most):
        stop = min(start + most, bags.n_instances)
        first, end = np.searchsorted(bags.offsets, [start, stop - 1], side="right")
        yield slice(start, stop), slice(int(first) - 1, int(end))


def portions(parts: np.ndarray, bags: Bags) -> np.ndarray:
    """Parts that are not negative, divided by their sum in the bag; equal where all are zero."""
    totals = np.add.reduceat(parts, bags.offsets[:-1])
    empty = (totals == 0).repeat(bags.sizes)
    return np.where(empty, 1.0, parts) / np.where(totals == 0, bags.sizes, totals).repeat(bags.sizes)
