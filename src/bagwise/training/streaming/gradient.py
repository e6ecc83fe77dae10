"""Exact gradients of bags that do not fit into memory: two passes over their pieces.

Pass one, without a graph, finds the totals of each bag; from them follow the scores, the loss, and the gradient of the
loss by the totals. Pass two computes each piece once more, with a graph, and sends that gradient back through the
piece's own share of the totals. It runs by itself when somebody asks for the gradient of the scores.
"""

from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm

from bagwise.bags import Bags
from bagwise.errors import InputError
from bagwise.models import BagModel
from bagwise.pooling import Totals
from bagwise.training.streaming.replay import Replay
from bagwise.training.streaming.terms import pooling_of, terms_of


def streamed_scores(
    model: BagModel, bags: Bags, chosen: np.ndarray, device: torch.device, most: int
) -> Float[Tensor, "bags scores"]:
    """The scores of a training batch, as ``model`` gives them, but with a graph that holds no instance."""
    _refuse_batch_normalisation(model)
    batch = Replay(model, bags, chosen, device, most)
    learning = [value for value in _parameters(model) if value.requires_grad]
    totals = Totals(*_Stream.apply(batch, *learning))
    head_type = next((value.dtype for value in model.parameters()), torch.get_default_dtype())
    return model.head(pooling_of(model).conclude(totals).to(head_type))


def _parameters(model: BagModel) -> list[nn.Parameter]:
    return [*nn.ModuleList([model.encoder, model.pooling]).parameters()]


def _refuse_batch_normalisation(model: BagModel) -> None:
    """Its statistics are those of all rows at once, which no piece has; behind the pooling it does no harm."""
    for title, part in (("encoder", model.encoder), ("pooling", model.pooling)):
        for name, module in part.named_modules():
            if isinstance(module, _BatchNorm) and module.training:
                raise InputError(
                    f"the {title} normalises by batch ('{name}', {type(module).__name__}), and a batch that is larger "
                    "than memory allows is read in pieces, of which none knows the statistics of the whole; "
                    "use LayerNorm or GroupNorm, fewer bags a step (batch_size), or more memory (memory)"
                )


class _Stream(torch.autograd.Function):
    """Parameters → totals of the bags of a batch."""

    @staticmethod
    def forward(ctx: Any, batch: Replay, *learning: Tensor) -> Totals:
        totals = _totals(batch)
        ctx.batch, ctx.learning, ctx.peaks = batch, learning, totals.peaks
        ctx.mark_non_differentiable(totals.peaks, totals.counts)
        return totals

    @staticmethod
    def backward(ctx: Any, *by_totals: Tensor) -> Any:
        _, by_sums, by_rows, _ = by_totals
        with torch.enable_grad():
            return None, *_gradients(ctx.batch, ctx.learning, ctx.peaks, (by_sums, by_rows))


def _totals(batch: Replay) -> Totals:
    """Pass one: what the instances of each bag add up to."""
    pooling = pooling_of(batch.model)
    found: list[Totals] = []
    for piece in batch:
        # With a graph as in pass two: the same kernels give the same bits, and max meets its winners again.
        with torch.enable_grad():
            part = pooling.summarise(*terms_of(batch.model, piece, batch.device))
        part = Totals(*(each.detach() for each in part))
        found.append(pooling.merge(found.pop(), part) if piece.continues else part)
    return Totals(*(torch.cat(each) for each in zip(*found, strict=True)))


def _gradients(
    batch: Replay, learning: tuple[Tensor, ...], peaks: Tensor, by_totals: tuple[Tensor, Tensor]
) -> list[Tensor | None]:
    """Pass two: the gradient by the parameters, given that by the sums and rows of the totals."""
    found: list[Tensor | None] = [None] * len(learning)
    for piece in batch:
        part = pooling_of(batch.model).summarise(*terms_of(batch.model, piece, batch.device), peaks[piece.which])
        pairs = zip((part.sums, part.rows), by_totals, strict=True)
        ends = [(total, gradient[piece.which]) for total, gradient in pairs if total.requires_grad]
        if ends:
            own = torch.autograd.grad(*_apart(ends, learning), allow_unused=True)
            found = [_added(sofar, new) for sofar, new in zip(found, own, strict=True)]
    return found


def _apart(ends: list[tuple[Tensor, Tensor]], learning: tuple[Tensor, ...]) -> tuple[Any, Any, Any]:
    totals, gradients = zip(*ends, strict=True)
    return totals, learning, gradients


def _added(sofar: Tensor | None, new: Tensor | None) -> Tensor | None:
    if sofar is None or new is None:
        return new if sofar is None else sofar
    return sofar.add_(new)
