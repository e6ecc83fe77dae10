"""Poolings that are sums over instances, so that a bag can be pooled in pieces without being in memory as a whole.

    S = Σₖ exp(ξₖ − m)        V = Σₖ exp(ξₖ − m) rₖ        z = finalize(m, S, V, K)

Each instance contributes exponents ξ and a row r. The reference m is the largest exponent. It only avoids overflow: z
does not depend on it, so it needs no gradient. The sums of two pieces can be added if both use the same reference.
Therefore a bag can be pooled in one pass over its pieces. Once m is known, the gradient of z with respect to a piece
depends only on the contribution of this piece to S and V.
"""

from abc import abstractmethod
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from bagwise.nn.pooling.base import Pooled, Pooling
from bagwise.nn.segments import (
    Offsets,
    Rows,
    segment_expand,
    segment_max,
    segment_sizes,
    segment_sum,
    segment_weighted_sum,
)

Exponents = Float[Tensor, "instances columns"]


class Terms(NamedTuple):
    """Contributions of instances to the sums of their bags.

    Attributes
    ----------
    exponents : Tensor of shape (instances, columns)
        Exponents ξ.
    rows : Tensor of shape (instances, width)
        Rows r; without columns if the pooling depends only on the exponents.
    """

    exponents: Exponents
    rows: Float[Tensor, "instances width"]


class Totals(NamedTuple):
    """Sums over the instances of bags or of pieces of bags, in float64 if the device supports it.

    Attributes
    ----------
    peaks : Tensor of shape (bags, columns)
        Reference m, detached from the graph.
    sums : Tensor of shape (bags, columns)
        Sums S.
    rows : Tensor of shape (bags, columns * width)
        Sums V; the sums of all columns are concatenated.
    counts : Tensor of shape (bags, 1)
        Number of instances K.
    """

    peaks: Float[Tensor, "bags columns"]
    sums: Float[Tensor, "bags columns"]
    rows: Float[Tensor, "bags _"]
    counts: Float[Tensor, "bags 1"]


class AdditivePooling(Pooling):
    """Abstract base class of poolings that can pool a bag in pieces.

    A subclass implements ``terms``, ``finalize`` and ``weigh``.
    """

    @abstractmethod
    def terms(self, values: Rows) -> Terms:
        """Compute the contribution of each instance.

        Parameters
        ----------
        values : Tensor of shape (instances, width)
            Rows of the instances.

        Returns
        -------
        Terms
            Exponents and rows of the instances.
        """

    @abstractmethod
    def finalize(self, totals: Totals) -> Float[Tensor, "bags pooled_width"]:
        """Compute the pooled values.

        Parameters
        ----------
        totals : Totals
            Totals of whole bags.

        Returns
        -------
        Tensor of shape (bags, pooled_width)
            Pooled row of each bag.
        """

    @abstractmethod
    def weigh(self, exponents: Exponents, totals: Totals, offsets: Offsets) -> Float[Tensor, "instances heads"]:
        """Compute the weight of each instance.

        Parameters
        ----------
        exponents : Tensor of shape (instances, columns)
            Exponents of the instances.
        totals : Totals
            Totals of their whole bags.
        offsets : Tensor of shape (bags + 1,)
            Boundaries of the bags, or pieces of bags.

        Returns
        -------
        Tensor of shape (instances, heads)
            Weights; each column sums to one within each whole bag.
        """

    def forward(self, values: Rows, offsets: Offsets) -> Pooled:
        """Pool the rows of each bag; see ``Pooling.forward``."""
        terms = self.terms(values)
        totals = self.accumulate(terms, offsets)
        weights = self.weigh(terms.exponents, totals, offsets)
        return Pooled(values=self.finalize(totals).to(values.dtype), weights=weights.to(values.dtype))

    def accumulate(self, terms: Terms, offsets: Offsets, peaks: Float[Tensor, "bags columns"] | None = None) -> Totals:
        """Sum the contributions within each bag.

        Parameters
        ----------
        terms : Terms
            Contributions of the instances.
        offsets : Tensor of shape (bags + 1,)
            Boundaries of the bags, or pieces of bags.
        peaks : Tensor of shape (bags, columns), default=None
            Reference m; None for the largest exponent of each bag.

        Returns
        -------
        Totals
            Sums, with one row per bag.
        """
        exponents, rows = terms
        if peaks is None:
            peaks = segment_max(exponents.detach(), offsets)
        factors = self.exponential(exponents - segment_expand(peaks.to(exponents.dtype), offsets))
        sums = segment_sum(to_float64_values(factors), offsets)
        weighted = self.weighted(rows, factors, offsets)
        return Totals(
            peaks=to_float64_values(peaks),
            sums=sums,
            rows=to_float64_values(weighted),
            counts=segment_sizes(offsets)[:, None].to(sums.dtype),
        )

    def merge(self, first: Totals, second: Totals) -> Totals:
        """Add the totals of two pieces of the same bags.

        Parameters
        ----------
        first, second : Totals
            Totals of the pieces.

        Returns
        -------
        Totals
            Totals of both pieces together.
        """
        peaks = torch.maximum(first.peaks, second.peaks)
        first, second = self._rescale(first, peaks), self._rescale(second, peaks)
        return Totals(
            peaks=peaks,
            sums=first.sums + second.sums,
            rows=first.rows + second.rows,
            counts=first.counts + second.counts,
        )

    def shares(self, exponents: Exponents, totals: Totals, offsets: Offsets) -> Exponents:
        """Compute exp(ξ − m) / S; each column sums to one within each bag. See ``weigh`` for the parameters."""
        factors = self.exponential(exponents - segment_expand(totals.peaks.to(exponents.dtype), offsets))
        return to_float64_values(factors) / segment_expand(totals.sums, offsets)

    def exponential(self, differences: Tensor) -> Tensor:
        """Compute the factor exp(ξ − m) of a term."""
        return differences.exp()

    def weighted(self, rows: Rows, factors: Exponents, offsets: Offsets) -> Float[Tensor, "bags _"]:
        """Compute V, the sum of the rows of each bag weighted by each column of factors."""
        return segment_weighted_sum(rows, factors, offsets)

    def _rescale(self, totals: Totals, peaks: Tensor) -> Totals:
        """Convert totals to a larger reference."""
        factors = self.exponential(totals.peaks - peaks)
        width = totals.rows.shape[1] // totals.sums.shape[1]
        return totals._replace(
            peaks=peaks, sums=totals.sums * factors, rows=totals.rows * factors.repeat_interleave(width, dim=1)
        )


def make_rowless_terms(exponents: Exponents) -> Terms:
    """Return terms for a pooling that depends only on the exponents.

    Parameters
    ----------
    exponents : Tensor of shape (instances, columns)
        Exponents ξ.

    Returns
    -------
    Terms
        The exponents, and rows without columns.
    """
    return Terms(exponents=exponents, rows=exponents[:, :0])


def make_equal_shares(totals: Totals, offsets: Offsets) -> Float[Tensor, "instances 1"]:
    """Return the weight 1/K of each instance, where K is the number of instances of the whole bag."""
    return segment_expand(1 / totals.counts, offsets)


def compute_log_sums(totals: Totals) -> Float[Tensor, "bags columns"]:
    """Compute log Σₖ exp(ξₖ) without overflow."""
    return totals.peaks + totals.sums.log()


def compute_log_means(totals: Totals) -> Float[Tensor, "bags columns"]:
    """Compute log( 1/K Σₖ exp(ξₖ) ) without overflow."""
    return compute_log_sums(totals) - totals.counts.log()


def to_float64_values(values: Tensor) -> Tensor:
    """Convert to float64, so that sums over a million instances are accurate; MPS does not support float64."""
    return values if values.device.type == "mps" else values.double()
