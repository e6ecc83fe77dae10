"""A model's prediction of a bag of any size, in constant memory: one pass over the bag's pieces.

What is kept of an instance are its exponents, the few numbers that its weight depends on. Where they are many, as under
max of embeddings, a second pass computes them again.
"""

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor

from bagwise.bags import Bags
from bagwise.models import BagModel, Prediction
from bagwise.pooling import Terms
from bagwise.training.streaming.gathering import Gathered
from bagwise.training.streaming.pieces import pieces
from bagwise.training.streaming.terms import pooling_of, terms_of

FEW = 8  # exponents an instance that are kept


def streamed_prediction(model: BagModel, bag: Bags, device: torch.device, most: int) -> Prediction:
    """Scores and weights of one bag, read in pieces of at most so many rows; without gradients."""
    pooling, totals = pooling_of(model), None
    kept, weights = Gathered(bag.n_instances), Gathered(bag.n_instances)
    for terms in _terms(model, bag, device, most):
        part = pooling.summarise(terms, _whole(terms.exponents))
        totals = part if totals is None else pooling.merge(totals, part)
        if terms.exponents.shape[1] <= FEW:
            kept.add(terms.exponents)
    assert totals is not None  # a bag has instances
    again = kept.rows.split(most) if kept.filled else (terms.exponents for terms in _terms(model, bag, device, most))
    for exponents in again:
        weights.add(pooling.weigh(exponents, totals, _whole(exponents)).to(exponents.dtype))
    return Prediction(model.head(pooling.conclude(totals).to(weights.rows.dtype)), weights.rows)


def _terms(model: BagModel, bag: Bags, device: torch.device, most: int) -> Iterator[Terms]:
    for piece in pieces(bag, np.arange(1), most):
        yield terms_of(model, piece, device)[0]


def _whole(rows: Tensor) -> Tensor:
    """Offsets of one bag of these rows."""
    return torch.tensor([0, len(rows)], device=rows.device)
