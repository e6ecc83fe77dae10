"""The scores of a network along a walk through a bag, from running totals: every instance is encoded and read once.

Poolings are sums over instances (``pooling.additive``), so the totals of the instances so far and those of the next
block give the totals with that block. A walk then costs one pass over the bag, not one for every step.
"""

from itertools import accumulate

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from bagwise.bags import Bags
from bagwise.explain.contract import class_scores
from bagwise.explain.encoding import embeddings, exact
from bagwise.explain.orders import ScoreWalk, Walk
from bagwise.likelihoods import Likelihood
from bagwise.models import BagModel
from bagwise.pooling import AdditivePooling, Terms, Totals
from bagwise.training.batches import by_rows
from bagwise.training.streaming.terms import pooling_of

ROWS_AT_ONCE = 1 << 14  # of the orders that are totalled together; an order of a larger bag stands alone

Along = Float[Tensor, "orders steps _"]


def walking(model: BagModel, likelihood: Likelihood, device: torch.device) -> ScoreWalk:
    """How a model that ``streams`` scores a bag along a walk."""
    pooling, head = exact(pooling_of(model)), exact(model.head)

    @torch.inference_mode()
    def score(bag: Bags, walk: Walk) -> np.ndarray:
        rows = torch.cat(list(embeddings(model, bag, device)))
        pooled = running_values(pooling, pooling.terms(rows), walk)
        scores = class_scores(likelihood.log_probabilities(head(pooled.flatten(0, 1))))
        return scores.reshape(*pooled.shape[:2], -1)

    return score


def running_values(pooling: AdditivePooling, terms: Terms, walk: Walk) -> Along:
    """The pooled values after each step of each order."""
    n_orders, size = walk.orders.shape
    together = by_rows(np.full(n_orders, size), ROWS_AT_ONCE)
    blocks = [_block_totals(pooling, terms, walk._replace(orders=walk.orders[chosen])) for chosen in together]
    totals = [torch.cat(part) for part in zip(*blocks, strict=True)]
    steps = (Totals(*(part[:, step] for part in totals)) for step in range(len(walk.edges) - 1))
    return torch.stack([pooling.conclude(so_far) for so_far in accumulate(steps, pooling.merge)], dim=1)


def _block_totals(pooling: AdditivePooling, terms: Terms, walk: Walk) -> list[Along]:
    """The fields of the totals of each block of each order."""
    n_orders, size = walk.orders.shape
    starts = size * np.arange(n_orders)[:, None] + walk.edges[:-1]
    offsets = torch.from_numpy(np.append(starts.ravel(), n_orders * size))
    rows = torch.from_numpy(walk.orders.ravel())
    totals = pooling.summarise(Terms(*(part[rows] for part in terms)), offsets)
    return [part.unflatten(0, (n_orders, -1)) for part in totals]
