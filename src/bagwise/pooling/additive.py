"""Poolings as sums over the instances, so that a bag can be pooled in pieces and never has to lie in memory whole.

    S = Σₖ exp(ξₖ − m)        V = Σₖ exp(ξₖ − m) rₖ        z = conclude(m, S, V, K)

An instance contributes by its exponents ξ and its row r. The reference m, the greatest exponent, only keeps the numbers
in range: z does not depend on it, hence it needs no gradient. Sums of pieces are added up once they stand at the same
reference. So one pass over the pieces pools a bag; and with m known, the gradient of z reaches each piece through
its own share of S and V alone.
"""

from abc import abstractmethod
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from bagwise import segments
from bagwise.pooling.contract import Pooled, Pooling
from bagwise.segments import Offsets, Rows

Exponents = Float[Tensor, "instances columns"]


class Terms(NamedTuple):
    """What instances contribute."""

    exponents: Exponents
    rows: Float[Tensor, "instances width"]  # no columns where the exponents say it all


class Totals(NamedTuple):
    """What the instances of bags, or of pieces of bags, add up to; in float64 where the device has it."""

    peaks: Float[Tensor, "bags columns"]  # m, without gradient
    sums: Float[Tensor, "bags columns"]  # S
    rows: Float[Tensor, "bags _"]  # V, the columns side by side
    counts: Float[Tensor, "bags 1"]  # K


class AdditivePooling(Pooling):
    """Base of the poolings that can pool a bag in pieces."""

    @abstractmethod
    def terms(self, values: Rows) -> Terms:
        """What each instance contributes."""

    @abstractmethod
    def conclude(self, totals: Totals) -> Float[Tensor, "bags pooled_width"]:
        """The pooled values."""

    @abstractmethod
    def weigh(self, exponents: Exponents, totals: Totals, offsets: Offsets) -> Float[Tensor, "instances heads"]:
        """Each instance's share in its bag's pooled value, given the totals of the whole bag."""

    def forward(self, values: Rows, offsets: Offsets) -> Pooled:
        terms = self.terms(values)
        totals = self.summarise(terms, offsets)
        weights = self.weigh(terms.exponents, totals, offsets)
        return Pooled(self.conclude(totals).to(values.dtype), weights.to(values.dtype))

    def exponential(self, differences: Tensor) -> Tensor:
        """exp(ξ − m), the factor of a term."""
        return differences.exp()

    def summarise(self, terms: Terms, offsets: Offsets, peaks: Float[Tensor, "bags columns"] | None = None) -> Totals:
        """Totals of each bag, at its own greatest exponent or at a given reference."""
        exponents, rows = terms
        if peaks is None:
            peaks = segments.max(exponents.detach(), offsets)
        factors = self.exponential(exponents - segments.spread(peaks.to(exponents.dtype), offsets))
        summed = segments.sum(wide(factors), offsets)
        weighted = self.weighted(rows, factors, offsets)
        return Totals(wide(peaks), summed, wide(weighted), segments.sizes(offsets)[:, None].to(summed.dtype))

    def weighted(self, rows: Rows, factors: Exponents, offsets: Offsets) -> Float[Tensor, "bags _"]:
        """V: the rows of each bag, summed with each column of factors."""
        return segments.weighted_sum(rows, factors, offsets)

    def merge(self, one: Totals, other: Totals) -> Totals:
        """Totals of two pieces of the same bags together."""
        peaks = torch.maximum(one.peaks, other.peaks)
        first, second = (self._at(peaks, totals) for totals in (one, other))
        return Totals(peaks, *(left + right for left, right in zip(first, second, strict=True)))

    def _at(self, peaks: Tensor, totals: Totals) -> tuple[Tensor, Tensor, Tensor]:
        """Sums, rows and counts as they stand at a greater reference."""
        factors = self.exponential(totals.peaks - peaks)
        width = totals.rows.shape[1] // totals.sums.shape[1]
        return totals.sums * factors, totals.rows * factors.repeat_interleave(width, dim=1), totals.counts

    def shares(self, exponents: Exponents, totals: Totals, offsets: Offsets) -> Exponents:
        """exp(ξ − m) / S: for each column they sum to one within a bag."""
        factors = self.exponential(exponents - segments.spread(totals.peaks.to(exponents.dtype), offsets))
        return wide(factors) / segments.spread(totals.sums, offsets)


def equal_shares(totals: Totals, offsets: Offsets) -> Float[Tensor, "instances 1"]:
    """1/K for each instance."""
    return segments.spread(1 / totals.counts, offsets)


def log_sums(totals: Totals) -> Float[Tensor, "bags columns"]:
    """log Σₖ exp(ξₖ), whatever the size of the exponents."""
    return totals.peaks + totals.sums.log()


def log_means(totals: Totals) -> Float[Tensor, "bags columns"]:
    """log 1/K Σₖ exp(ξₖ)."""
    return log_sums(totals) - totals.counts.log()


def alone(exponents: Exponents) -> Terms:
    """Terms without rows."""
    return Terms(exponents, exponents[:, :0])


def wide(values: Tensor) -> Tensor:
    """The precision in which a bag of a million adds up; MPS has no float64."""
    return values if values.device.type == "mps" else values.double()
