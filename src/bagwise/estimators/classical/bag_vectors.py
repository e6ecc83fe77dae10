"""Bags as vectors: codes summed over instances, signed square root, L2 normalisation, and a linear classifier.

    v = Σᵢ c(xᵢ)        u = sign(v) √|v| / ‖√|v|‖        score = w · u + b

The codes c depend on the method (miVLAD, miFV). Because of the normalisation, the sum and the mean of codes give the
same vector. The classifier is a linear support vector machine with squared hinge loss, with one hyperplane for two
classes, else one hyperplane per class (one-vs-rest; liblinear, Fan et al. 2008):

    min over w, b   ½ ‖w, b‖² + C Σ max(0, 1 − y · score)²

The weight of an instance is proportional to |w · c(x)|, with w of the predicted class: the absolute value of its part
in w · v, before square root and normalisation, which apply to the whole bag.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.svm import LinearSVC

from bagwise.arguments import check_real_number
from bagwise.bags import Bags
from bagwise.estimators.bag_embedder import BagEmbedder
from bagwise.estimators.classical.base import FittedState
from bagwise.estimators.classical.scaled_bags import iterate_scaled_groups
from bagwise.estimators.validation import BagsLike
from bagwise.nn import segment_sum
from bagwise.training import array_to_tensor

MAX_ITERATIONS = 10_000  # of liblinear
VALUES_PER_CHUNK = 1 << 24  # number of code values per chunk: 128 MB


@dataclass(frozen=True)
class LinearClassifier:
    """Hyperplanes of a linear support vector machine."""

    weights: np.ndarray  # (n_scores, width)
    biases: np.ndarray  # (n_scores,)

    def scores(self, vectors: np.ndarray) -> np.ndarray:
        """Compute scores of shape (n_bags, n_scores): one score for two classes, else one per class."""
        return vectors @ self.weights.T + self.biases


def fit_linear_classifier(vectors: np.ndarray, targets: np.ndarray, C: Any) -> LinearClassifier:
    """Fit a linear support vector machine to one vector per bag; the primal solver uses no random numbers."""
    solver = LinearSVC(C=check_real_number("C", C, above=0), dual=False, max_iter=MAX_ITERATIONS).fit(vectors, targets)
    return LinearClassifier(solver.coef_, solver.intercept_)


class CodeBook(ABC):
    """Abstract base class of code books, which map an instance to its code."""

    @property
    @abstractmethod
    def width(self) -> int:
        """Number of values of a code."""

    @abstractmethod
    def codes(self, rows: np.ndarray) -> np.ndarray:
        """Compute the codes of rows, of shape (n_instances, width)."""


class LearnedVectors(FittedState):
    """Abstract base class of the fitted states of methods that represent a bag by a vector."""

    book: CodeBook
    machine: LinearClassifier

    def scores(self, bags: Bags) -> np.ndarray:
        return self.machine.scores(compute_bag_vectors(self.book, bags))

    def shares(self, bags: Bags) -> np.ndarray:
        predicted = self.scores(bags).argmax(axis=1)  # 0 for two classes, which have a single w
        codes = (self.book.codes(bags.instances[rows]) for rows, _ in cut_rows(bags, self.book.width))
        parts = np.concatenate([chunk @ self.machine.weights.T for chunk in codes])
        return normalize_parts(np.abs(parts[np.arange(len(parts)), predicted.repeat(bags.sizes)]), bags)


class VectorEmbedder(BagEmbedder):
    """Mixin of classical methods whose fitted state are ``LearnedVectors``."""

    def _embed(self: Any, X: BagsLike) -> np.ndarray:
        groups = iterate_scaled_groups(self._check_bags(X), self.scaling_)
        return np.concatenate([compute_bag_vectors(self.learned_.book, group) for group in groups])


def compute_bag_vectors(book: CodeBook, bags: Bags) -> np.ndarray:
    """Compute u, of shape (n_bags, width): one vector of unit length per bag, or zeros if the codes cancel out."""
    sums = np.zeros((len(bags), book.width))
    for rows, owners in cut_rows(bags, book.width):
        edges = np.clip(bags.offsets[owners.start : owners.stop + 1], rows.start, rows.stop) - rows.start
        sums[owners] += segment_sum(array_to_tensor(book.codes(bags.instances[rows])), array_to_tensor(edges)).numpy()
    roots = np.sign(sums) * np.sqrt(np.abs(sums))
    norms = np.linalg.norm(roots, axis=1, keepdims=True)
    return roots / np.where(norms > 0, norms, 1.0)


def cut_rows(bags: Bags, width: int) -> Iterator[tuple[slice, slice]]:
    """Yield slices of rows whose codes fit into memory, and the bags they belong to; a large bag may be in several."""
    rows_per_chunk = max(1, VALUES_PER_CHUNK // width)
    for start in range(0, bags.n_instances, rows_per_chunk):
        stop = min(start + rows_per_chunk, bags.n_instances)
        first, end = np.searchsorted(bags.offsets, [start, stop - 1], side="right")
        yield slice(start, stop), slice(int(first) - 1, int(end))


def normalize_parts(parts: np.ndarray, bags: Bags) -> np.ndarray:
    """Divide non-negative parts by their sum in the bag; return equal weights if all parts of a bag are zero."""
    totals = np.add.reduceat(parts, bags.offsets[:-1])
    is_empty = (totals == 0).repeat(bags.sizes)
    return np.where(is_empty, 1.0, parts) / np.where(totals == 0, bags.sizes, totals).repeat(bags.sizes)
