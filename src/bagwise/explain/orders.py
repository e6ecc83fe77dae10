"""Contributions by sampled orders, for models without a closed form (Shapley 1953; Štrumbelj & Kononenko 2010).

    cₖ = mean over orders of  s(instances up to and with k) − s(instances before k)        baseline = 0

Instances enter the bag one after the other, and each is credited with the change of the score when it enters. Before
the first there is nothing to judge by, so the walk begins at even odds, a score of zero; along every order the steps
add up to the score, hence so do their means. Each order is walked backwards too, which evens out who comes early.
A bag so small that all its orders are no more than those asked for gets every one, and its exact Shapley values.

A bag of more than ``STEPS`` instances is walked in blocks; what a block changes is shared among its instances in
proportion to their weights, evenly where they have none. There are ``STEPS`` blocks where a step is cheap, and fewer
where every step judges all instances so far anew.
"""

import math
from collections.abc import Callable
from itertools import permutations
from typing import NamedTuple

import numpy as np

from bagwise import randomness
from bagwise.bags import Bags
from bagwise.explain.contract import Attribution
from bagwise.randomness import Purpose

STEPS = 200
FEWEST_STEPS = 20
SEED = 0  # one for all, so that a bag is explained the same wherever and whenever it is


class Walk(NamedTuple):
    """Orders in which the instances of a bag enter it, and after how many of them it is judged."""

    orders: np.ndarray  # (n_orders, n_instances)
    edges: np.ndarray  # (n_steps + 1,), from none to all


ScoreWalk = Callable[[Bags, Walk], np.ndarray]  # one bag → (n_orders, n_steps, n_classes), scores along the walk


def cheap_steps(size: int) -> int:
    """Steps through a bag where each costs no more than the instances of its block."""
    return min(size, STEPS)


def dear_steps(size: int) -> int:
    """Steps through a bag where each costs all instances so far: together no more than those of a bag of ``STEPS``.

    >>> [dear_steps(size) for size in (7, 200, 400, 100_000)]
    [7, 200, 100, 20]
    """
    return min(size, max(FEWEST_STEPS, STEPS**2 // size))


def sampled_orders(
    bags: Bags, weights: np.ndarray, n_orders: int, score: ScoreWalk, n_steps: Callable[[int], int]
) -> Attribution:
    """The contributions of all instances, bag by bag; the score of a bag is the one that its walks end with."""
    scores, contributions = [], []
    for number, (start, end) in enumerate(zip(bags.offsets, bags.offsets[1:], strict=False)):
        walk = plan_walk(int(end - start), n_orders, n_steps(int(end - start)))
        along = score(bags[[number]], walk)
        scores.append(along[:, -1].mean(axis=0))
        contributions.append(share_steps(walk, along, weights[start:end]))
    baseline = np.zeros(len(scores[0]))
    return Attribution(np.array(scores), baseline, np.concatenate(contributions), "sampled orders")


def plan_walk(size: int, n_orders: int, n_steps: int) -> Walk:
    """Orders of so many instances, and steps through them that are as even as can be.

    >>> plan_walk(2, n_orders=8, n_steps=2).orders.tolist(), plan_walk(9, n_orders=8, n_steps=3).edges.tolist()
    ([[0, 1], [1, 0]], [0, 3, 6, 9])
    """
    edges = np.linspace(0, size, n_steps + 1).round().astype(int)
    if size <= n_orders and math.factorial(size) <= n_orders:
        return Walk(np.array(list(permutations(range(size)))), edges)
    draws = randomness.generator(SEED, Purpose.SHUFFLE, size)
    drawn = [draws.permutation(size) for _ in range(-(-n_orders // 2))]
    there_and_back = [order for forward in drawn for order in (forward, forward[::-1])]
    return Walk(np.array(there_and_back[:n_orders]), edges)


def share_steps(walk: Walk, scores: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """(n_instances, n_classes): the steps of the score, credited to the instances and averaged over the orders."""
    steps = np.diff(scores, axis=1, prepend=0.0)
    lengths, credit = np.diff(walk.edges), np.zeros((len(weights), scores.shape[2]))
    for order, its_steps in zip(walk.orders, steps, strict=True):
        shares = block_shares(weights[order], walk.edges)
        credit[order] += shares[:, None] * its_steps.repeat(lengths, axis=0)
    return credit / len(walk.orders)


def block_shares(weights: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Each instance's share in its block: by weight, evenly where the block has none.

    >>> block_shares(np.array([0.25, 0.75, 0.0, 0.0]), np.array([0, 2, 4])).tolist()
    [0.25, 0.75, 0.5, 0.5]
    """
    weights, lengths = weights.astype(np.float64), np.diff(edges)
    totals = np.add.reduceat(weights, edges[:-1]).repeat(lengths)
    return np.where(totals > 0, weights, 1) / np.where(totals > 0, totals, lengths.repeat(lengths))
