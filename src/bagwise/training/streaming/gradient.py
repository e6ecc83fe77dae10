"""Exact gradients of bags that do not fit into memory: two passes over their pieces.

    pass 1, graph discarded:   totals (S, V) of each bag  →  scores  →  loss  →  ∂L/∂S, ∂L/∂V
    pass 2, piece by piece:    ∂L/∂θ = Σ_pieces  ∂L/∂S · ∂S_piece/∂θ + ∂L/∂V · ∂V_piece/∂θ

Autograd triggers the second pass when it needs the gradient of the scores. Both passes use the same random numbers:
those of dropout and augmentation are a function of the position in the run, so a piece gets the numbers of its rows in
the whole batch. Third-party modules use torch's generator, which is seeded for each piece.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm

from bagwise.bags import Bags
from bagwise.errors import InputError
from bagwise.nn import BagModel, StreamPosition, list_random_modules, set_stream_position
from bagwise.nn.pooling import Totals
from bagwise.training.streaming.pieces import BagPiece, compute_terms, cut_pieces, get_additive_pooling

TORCH_SEED_LIMIT = 1 << 62  # seed + row number must not exceed the range of torch seeds


def stream_scores(
    model: BagModel, bags: Bags, chosen: np.ndarray, device: torch.device, max_rows: int
) -> Float[Tensor, "bags scores"]:
    """Compute the scores of a training batch in pieces; the graph for the backward pass contains no instances.

    Parameters
    ----------
    model : BagModel
        Streamable model (see ``is_streamable``).
    bags : Bags
        All bags.
    chosen : ndarray of int
        Indices of the bags of the batch.
    device : torch.device
        Device of the model.
    max_rows : int
        Maximum number of rows per piece.

    Returns
    -------
    Tensor of shape (bags, scores)
        The same scores as those of ``model`` for the whole batch, up to rounding.
    """
    _check_no_batch_normalization(model)
    batch = ReplayedBatch(model=model, bags=bags, chosen=chosen, device=device, max_rows=max_rows)
    trainable = [value for value in _list_streamed_parameters(model) if value.requires_grad]
    totals = Totals(*_StreamTotals.apply(batch, *trainable))
    head_dtype = next((value.dtype for value in model.parameters()), torch.get_default_dtype())
    return model.head(get_additive_pooling(model).finalize(totals).to(head_dtype))


@dataclass
class ReplayedBatch:
    """Chosen bags in pieces of at most ``max_rows`` rows; every iteration uses the same random numbers.

    Attributes
    ----------
    position : StreamPosition or None
        Position in the run; None if the model has no random modules, or outside a run.
    seed : int
        Seed of torch's generator, for third-party modules.
    """

    model: BagModel
    bags: Bags
    chosen: np.ndarray
    device: torch.device
    max_rows: int
    position: StreamPosition | None = field(init=False)
    seed: int = field(init=False)

    def __post_init__(self) -> None:
        self.position = next((module.position for module in list_random_modules(self.model)), None)
        self.seed = int(torch.randint(TORCH_SEED_LIMIT, ()))

    def __iter__(self) -> Iterator[BagPiece]:
        with torch.random.fork_rng([self.device] if self.device.type == "cuda" else []):
            for piece in cut_pieces(self.bags, self.chosen, self.max_rows):
                torch.manual_seed(self.seed + piece.first_row)
                set_stream_position(self.model, self._get_piece_position(piece))
                yield piece
        set_stream_position(self.model, self.position)

    def _get_piece_position(self, piece: BagPiece) -> StreamPosition | None:
        return self.position and self.position._replace(first_row=self.position.first_row + piece.first_row)


class _StreamTotals(torch.autograd.Function):
    """Function from the streamed parameters to the totals of the bags of a batch."""

    @staticmethod
    def forward(ctx: Any, batch: ReplayedBatch, *trainable: Tensor) -> Totals:
        totals = _compute_totals(batch)
        ctx.batch, ctx.trainable, ctx.peaks = batch, trainable, totals.peaks
        ctx.mark_non_differentiable(totals.peaks, totals.counts)
        return totals

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Any:
        with torch.enable_grad():
            return None, *_compute_gradients(ctx.batch, ctx.trainable, ctx.peaks, Totals(*gradients))


def _compute_totals(batch: ReplayedBatch) -> Totals:
    """Compute the totals of each bag (pass one)."""
    pooling = get_additive_pooling(batch.model)
    totals: list[Totals] = []
    for piece in batch:
        # With a graph, as in pass two: the same kernels give the same bits, so both passes find the same maxima.
        with torch.enable_grad():
            part = pooling.accumulate(*compute_terms(batch.model, piece, batch.device))
        part = Totals(*(value.detach() for value in part))
        totals.append(pooling.merge(totals.pop(), part) if piece.continues else part)
    return Totals(*(torch.cat(values) for values in zip(*totals, strict=True)))


def _compute_gradients(
    batch: ReplayedBatch, trainable: tuple[Tensor, ...], peaks: Tensor, total_gradients: Totals
) -> list[Tensor | None]:
    """Compute the gradients of the parameters from those of the sums and rows of the totals (pass two)."""
    pooling = get_additive_pooling(batch.model)
    gradients: list[Tensor | None] = [None] * len(trainable)
    for piece in batch:
        terms, offsets = compute_terms(batch.model, piece, batch.device)
        part = pooling.accumulate(terms, offsets, peaks[piece.which])
        pairs = ((part.sums, total_gradients.sums), (part.rows, total_gradients.rows))
        outputs = [(total, gradient[piece.which]) for total, gradient in pairs if total.requires_grad]
        if outputs:
            own = torch.autograd.grad(
                [total for total, _ in outputs],
                trainable,
                grad_outputs=[gradient for _, gradient in outputs],
                allow_unused=True,
            )
            gradients = [_add_gradients(before, new) for before, new in zip(gradients, own, strict=True)]
    return gradients


def _add_gradients(before: Tensor | None, new: Tensor | None) -> Tensor | None:
    if before is None or new is None:
        return new if before is None else before
    return before.add_(new)


def _list_streamed_parameters(model: BagModel) -> list[nn.Parameter]:
    return [*nn.ModuleList(model.get_parts_before_head().values()).parameters()]


def _check_no_batch_normalization(model: BagModel) -> None:
    """Reject batch normalisation before the head, which needs statistics of all rows; the head may have it."""
    for title, part in model.get_parts_before_head().items():
        for name, module in part.named_modules():
            if isinstance(module, _BatchNorm) and module.training:
                raise InputError(
                    f"the {title} contains batch normalisation ('{name}', {type(module).__name__}), but this batch "
                    "does not fit into the memory limit and is read in pieces, for which the statistics of the whole "
                    "batch are unknown; use LayerNorm or GroupNorm, a smaller batch_size, or a larger memory limit"
                )
