"""Prediction of a bag in pieces: one pass over the bag, whatever its size.

Only the exponents of each instance are stored, which are the few numbers that determine its weight. If an instance has
many exponents, as with max pooling of embeddings, a second pass computes them again.
"""

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor

from bagwise.bags import Bags
from bagwise.nn import BagModel, Prediction
from bagwise.nn.pooling import Terms
from bagwise.training.streaming.pieces import RowCollector, compute_terms, cut_pieces, get_additive_pooling

MAX_STORED_EXPONENTS = 8  # per instance; more are computed again in a second pass


def stream_prediction(model: BagModel, bag: Bags, device: torch.device, max_rows: int) -> Prediction:
    """Predict one bag in pieces, without gradients.

    Parameters
    ----------
    model : BagModel
        Streamable model (see ``is_streamable``).
    bag : Bags
        A single bag.
    device : torch.device
        Device of the model.
    max_rows : int
        Maximum number of rows per piece.

    Returns
    -------
    Prediction
        Scores and weights of the bag.
    """
    pooling, totals = get_additive_pooling(model), None
    stored, weights = RowCollector(bag.n_instances), RowCollector(bag.n_instances)
    for terms in _iterate_terms(model, bag, device, max_rows):
        part = pooling.accumulate(terms, _make_offsets(terms.exponents))
        totals = part if totals is None else pooling.merge(totals, part)
        if terms.exponents.shape[1] <= MAX_STORED_EXPONENTS:
            stored.add(terms.exponents)
    assert totals is not None  # a bag has instances
    pieces = (
        stored.rows.split(max_rows)
        if stored.filled
        else (terms.exponents for terms in _iterate_terms(model, bag, device, max_rows))
    )
    for exponents in pieces:
        weights.add(pooling.weigh(exponents, totals, _make_offsets(exponents)).to(exponents.dtype))
    scores = model.head(pooling.finalize(totals).to(weights.rows.dtype))
    return Prediction(scores=scores, weights=weights.rows)


def _iterate_terms(model: BagModel, bag: Bags, device: torch.device, max_rows: int) -> Iterator[Terms]:
    for piece in cut_pieces(bag, np.arange(1), max_rows):
        yield compute_terms(model, piece, device)[0]


def _make_offsets(rows: Tensor) -> Tensor:
    """Return the offsets of one bag that consists of these rows."""
    return torch.tensor([0, len(rows)], device=rows.device)
