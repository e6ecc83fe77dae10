"""Shapley values by sampled permutations, for models without a closed form (Shapley 1953; Štrumbelj & Kononenko 2010).

    cₖ = mean over permutations of  s(instances up to and including k) − s(instances before k)        baseline = 0

The instances are added to the bag one at a time, and each is credited with the change of the score when it is added.
The score of the empty bag is zero (for classes, even odds). The changes along a permutation sum to the score, and so do
their means. Each sampled permutation is also used in reverse, which balances early and late positions. If a bag is so
small that it has at most as many permutations as requested, all of them are used and the Shapley values are exact.

A bag of more than ``MAX_BLOCKS`` instances is added in blocks. The change of the score due to a block is divided among
its instances in proportion to their weights, or equally if their weights are all zero. Fewer blocks are used if all
instances added so far must be scored again for every block.

Networks whose pooling is a sum over instances (``nn.pooling.AdditivePooling``) need one pass per permutation: the
totals of the instances added so far are merged with the totals of the next block. This is not possible with a context,
because each added instance changes the embeddings of the others; the instances added so far are then scored again.
"""

import math
from collections.abc import Callable
from itertools import accumulate, permutations
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from bagwise.bags import Bags
from bagwise.explain.attribution import Attribution
from bagwise.explain.closed_form import compute_embeddings, to_float64
from bagwise.nn import BagModel, Purpose, make_generator
from bagwise.nn.pooling import AdditivePooling, Terms, Totals
from bagwise.targets import Likelihood
from bagwise.training import group_by_rows
from bagwise.training.streaming import get_additive_pooling

MAX_BLOCKS = 200
MIN_BLOCKS = 20  # if all instances added so far must be scored again for every block
SEED = 0  # fixed, so that the explanation of a bag does not depend on the other bags
ROWS_AT_ONCE = 1 << 14  # rows of permutations that are summed together; a longer permutation is summed by itself

PrefixValues = Float[Tensor, "permutations blocks _"]


class PermutationPlan(NamedTuple):
    """The permutations in which instances are added to a bag, and the prefix lengths at which it is scored."""

    permutations: np.ndarray  # (n_permutations, n_instances)
    edges: np.ndarray  # (n_blocks + 1,), from 0 to n_instances


PrefixScorer = Callable[[Bags, PermutationPlan], np.ndarray]  # one bag → (n_permutations, n_blocks, n_outputs)


def choose_streamed_blocks(size: int) -> int:
    """Return the number of blocks for a bag if the cost of adding a block depends only on its own instances."""
    return min(size, MAX_BLOCKS)


def choose_rescored_blocks(size: int) -> int:
    """Return the number of blocks for a bag if all instances added so far are scored again for every block.

    The total cost is limited to that of a bag of ``MAX_BLOCKS`` instances, except that there are at least
    ``MIN_BLOCKS`` blocks.

    >>> [choose_rescored_blocks(size) for size in (7, 200, 400, 100_000)]
    [7, 200, 100, 20]
    """
    return min(size, max(MIN_BLOCKS, MAX_BLOCKS**2 // size))


def estimate_shapley_values(
    bags: Bags, weights: np.ndarray, n_permutations: int, scorer: PrefixScorer, choose_n_blocks: Callable[[int], int]
) -> Attribution:
    """Estimate all contributions, bag by bag; the score of a bag is the mean score of its complete prefixes."""
    scores, contributions = [], []
    for bag, (start, end) in enumerate(zip(bags.offsets, bags.offsets[1:], strict=False)):
        plan = plan_permutations(int(end - start), n_permutations, choose_n_blocks(int(end - start)))
        prefix_scores = scorer(bags[[bag]], plan)
        scores.append(prefix_scores[:, -1].mean(axis=0))
        contributions.append(credit_increments(plan, prefix_scores, weights[start:end]))
    return Attribution(
        scores=np.array(scores),
        baseline=np.zeros(len(scores[0])),
        contributions=np.concatenate(contributions),
        method="sampled permutations",
    )


def plan_permutations(size: int, n_permutations: int, n_blocks: int) -> PermutationPlan:
    """Sample permutations of the instances of a bag and divide them into blocks of nearly equal length.

    >>> plan = plan_permutations(2, n_permutations=8, n_blocks=2)
    >>> plan.permutations.tolist(), plan_permutations(9, n_permutations=8, n_blocks=3).edges.tolist()
    ([[0, 1], [1, 0]], [0, 3, 6, 9])
    """
    edges = np.linspace(0, size, n_blocks + 1).round().astype(int)
    if size <= n_permutations and math.factorial(size) <= n_permutations:
        return PermutationPlan(np.array(list(permutations(range(size)))), edges)
    generator = make_generator(SEED, Purpose.SHUFFLE, size)
    sampled = [generator.permutation(size) for _ in range(-(-n_permutations // 2))]
    with_reverses = [each for permutation in sampled for each in (permutation, permutation[::-1])]
    return PermutationPlan(np.array(with_reverses[:n_permutations]), edges)


def credit_increments(plan: PermutationPlan, scores: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Credit the increments of the score to the instances, averaged over permutations: (n_instances, n_outputs)."""
    increments = np.diff(scores, axis=1, prepend=0.0)
    lengths, credit = np.diff(plan.edges), np.zeros((len(weights), scores.shape[2]))
    for permutation, changes in zip(plan.permutations, increments, strict=True):
        shares = compute_block_shares(weights[permutation], plan.edges)
        credit[permutation] += shares[:, None] * changes.repeat(lengths, axis=0)
    return credit / len(plan.permutations)


def compute_block_shares(weights: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Return the share of each instance in its block: by weight, or equal if all weights of the block are zero.

    >>> compute_block_shares(np.array([0.25, 0.75, 0.0, 0.0]), np.array([0, 2, 4])).tolist()
    [0.25, 0.75, 0.5, 0.5]
    """
    weights, lengths = weights.astype(np.float64), np.diff(edges)
    totals = np.add.reduceat(weights, edges[:-1]).repeat(lengths)
    return np.where(totals > 0, weights, 1) / np.where(totals > 0, totals, lengths.repeat(lengths))


def make_network_scorer(model: BagModel, likelihood: Likelihood, device: torch.device) -> PrefixScorer:
    """Return a scorer for a streamable model that does not mix instances; every instance is encoded once."""
    pooling, head = to_float64(get_additive_pooling(model)), to_float64(model.head)

    @torch.inference_mode()
    def score(bag: Bags, plan: PermutationPlan) -> np.ndarray:
        rows = torch.cat(list(compute_embeddings(model, bag, device)))
        pooled = pool_prefixes(pooling, pooling.terms(rows), plan)
        scores = likelihood.score_outputs(head(pooled.flatten(0, 1)).numpy())
        return scores.reshape(*pooled.shape[:2], -1)

    return score


def pool_prefixes(pooling: AdditivePooling, terms: Terms, plan: PermutationPlan) -> PrefixValues:
    """Compute the pooled values after each block of each permutation, from running totals."""
    n_permutations, size = plan.permutations.shape
    groups = group_by_rows(np.full(n_permutations, size), ROWS_AT_ONCE)
    blocks = [_total_blocks(pooling, terms, plan._replace(permutations=plan.permutations[group])) for group in groups]
    totals = [torch.cat(part) for part in zip(*blocks, strict=True)]
    by_block = (Totals(*(part[:, block] for part in totals)) for block in range(len(plan.edges) - 1))
    return torch.stack([pooling.finalize(running) for running in accumulate(by_block, pooling.merge)], dim=1)


def _total_blocks(pooling: AdditivePooling, terms: Terms, plan: PermutationPlan) -> list[PrefixValues]:
    """Compute the fields of the totals of each block of each permutation."""
    n_permutations, size = plan.permutations.shape
    starts = size * np.arange(n_permutations)[:, None] + plan.edges[:-1]
    offsets = torch.from_numpy(np.append(starts.ravel(), n_permutations * size))
    rows = torch.from_numpy(plan.permutations.ravel())
    totals = pooling.accumulate(Terms(*(part[rows] for part in terms)), offsets)
    return [part.unflatten(0, (n_permutations, -1)) for part in totals]
