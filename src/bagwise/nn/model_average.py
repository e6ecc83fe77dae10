"""The average of several models with the same parts: one model, whose scores are the mean of the scores of its members.

    s = 1/M Σₘ gₘ( σₘ( fₘ(x₁), …, fₘ(x_K) ) )

The embeddings and the pooled values of the members stand side by side, in M blocks of columns. Everything that
works with the parts of a model, such as streaming, explanations and export, works with the average in the same way.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, cast

import torch
from jaxtyping import Float, Shaped
from torch import Tensor, nn

from bagwise.nn.bag_model import BagModel
from bagwise.nn.context import Context
from bagwise.nn.pooling.additive import AdditivePooling, Exponents, Terms, Totals
from bagwise.nn.pooling.base import Pooled, Pooling
from bagwise.nn.segments import Offsets, Rows


def average_models(models: Sequence[BagModel]) -> BagModel:
    """Return one model whose scores are the mean of the scores of several models.

    Parameters
    ----------
    models : sequence of BagModel
        Models that differ in their weights only; their parts are shared with the average.

    Returns
    -------
    BagModel
        The only model, or the average.
    """
    if len(models) == 1:
        return models[0]
    pooling_class = AdditivePoolings if isinstance(models[0].pooling, AdditivePooling) else Poolings
    average = BagModel(
        Encoders(model.encoder for model in models),
        pooling_class(model.pooling for model in models),
        Heads(model.head for model in models),
        context=None if models[0].context is None else Contexts([model.context for model in models if model.context]),
    )
    return average.train(models[0].training)


def list_members(model: BagModel) -> list[BagModel]:
    """Return the models whose average a model is; a model that is no average is its only member.

    Parameters
    ----------
    model : BagModel
        A model, perhaps from ``average_models``.

    Returns
    -------
    list of BagModel
        The members, which share their parts with the model.
    """
    if not isinstance(model.encoder, Encoders):
        return [model]
    parts = zip(model.encoder.members, _list_parts(model.pooling), _list_parts(model.head), strict=True)
    contexts = [None] * len(model.encoder.members) if model.context is None else _list_parts(model.context)
    return [
        BagModel(encoder, cast(Pooling, pooling), head, context=cast(Context | None, context)).train(model.training)
        for (encoder, pooling, head), context in zip(parts, contexts, strict=True)
    ]


def _list_parts(part: nn.Module) -> list[nn.Module]:
    return list(cast(nn.ModuleList, part.members))


class Encoders(nn.Module):
    """Encoders of the members, whose embeddings stand side by side.

    Parameters
    ----------
    members : iterable of nn.Module
        The encoders.
    """

    def __init__(self, members: Iterable[nn.Module]) -> None:
        super().__init__()
        self.members = nn.ModuleList(members)

    def forward(self, instances: Shaped[Tensor, "instances ..."]) -> Rows:
        """Encode instances of shape (instances, …) by every member."""
        return torch.cat([member(instances) for member in self.members], dim=1)


class Contexts(Context):
    """Contexts of the members, each of which sees its own block of columns.

    Parameters
    ----------
    members : sequence of Context
        The contexts.
    """

    def __init__(self, members: Sequence[Context]) -> None:
        super().__init__()
        self.members = nn.ModuleList(members)
        self.supports_streaming = members[0].supports_streaming
        self.title = members[0].title

    def forward(self, embeddings: Rows, offsets: Offsets) -> Float[Tensor, "instances context_width"]:
        blocks = split_blocks(embeddings, len(self.members))
        return torch.cat([member(block, offsets) for member, block in zip(self.members, blocks, strict=True)], dim=1)


class Poolings(Pooling):
    """Poolings of the members, each of which pools its own block of columns.

    Parameters
    ----------
    members : iterable of Pooling
        The poolings.
    """

    def __init__(self, members: Iterable[Pooling]) -> None:
        super().__init__()
        self.members = nn.ModuleList(members)

    def forward(self, values: Rows, offsets: Offsets) -> Pooled:
        pooled = [pooling(block, offsets) for pooling, block in self._match(values)]
        return Pooled(*(torch.cat(columns, dim=1) for columns in zip(*pooled, strict=True)))

    def _match(self, columns: Tensor) -> Iterator[tuple[Any, Tensor]]:
        """Yield each pooling with its block of columns."""
        return zip(self.members, split_blocks(columns, len(self.members)), strict=True)


class AdditivePoolings(Poolings, AdditivePooling):
    """Additive poolings of the members: their terms and totals stand side by side, so a bag can be read in pieces."""

    def terms(self, values: Rows) -> Terms:
        terms = [pooling.terms(block) for pooling, block in self._match(values)]
        return Terms(*(torch.cat(columns, dim=1) for columns in zip(*terms, strict=True)))

    def finalize(self, totals: Totals) -> Float[Tensor, "bags pooled_width"]:
        return torch.cat([pooling.finalize(part) for pooling, part in self._match_totals(totals)], dim=1)

    def weigh(self, exponents: Exponents, totals: Totals, offsets: Offsets) -> Float[Tensor, "instances heads"]:
        matched = zip(self._match_totals(totals), split_blocks(exponents, len(self.members)), strict=True)
        return torch.cat([pooling.weigh(block, part, offsets) for (pooling, part), block in matched], dim=1)

    def exponential(self, differences: Tensor) -> Tensor:
        return self._first.exponential(differences)

    def weighted(self, rows: Rows, factors: Exponents, offsets: Offsets) -> Float[Tensor, "bags _"]:
        matched = zip(self._match(rows), split_blocks(factors, len(self.members)), strict=True)
        return torch.cat([pooling.weighted(block, part, offsets) for (pooling, block), part in matched], dim=1)

    @property
    def _first(self) -> AdditivePooling:
        return cast(AdditivePooling, self.members[0])

    def _match_totals(self, totals: Totals) -> Iterator[tuple[Any, Totals]]:
        """Yield each pooling with its part of the totals; all of them share the counts."""
        blocks = (split_blocks(columns, len(self.members)) for columns in (totals.peaks, totals.sums, totals.rows))
        parts = (Totals(peaks, sums, rows, totals.counts) for peaks, sums, rows in zip(*blocks, strict=True))
        return zip(self.members, parts, strict=True)


class Heads(nn.Module):
    """Heads of the members; the score is the mean of their scores.

    Parameters
    ----------
    members : iterable of nn.Module
        The heads.
    """

    def __init__(self, members: Iterable[nn.Module]) -> None:
        super().__init__()
        self.members = nn.ModuleList(members)

    def forward(self, values: Float[Tensor, "bags pooled_width"]) -> Float[Tensor, "bags scores"]:
        """Compute the mean of the scores of the members, each from its block of the pooled values."""
        blocks = split_blocks(values, len(self.members))
        first, *others = (head(block) for head, block in zip(self.members, blocks, strict=True))
        return sum(others, first) / len(self.members)  # one after the other: mean() rounds rows differently


def split_blocks(columns: Tensor, n_blocks: int) -> tuple[Tensor, ...]:
    """Split columns into equal blocks, one per member.

    >>> [block.tolist() for block in split_blocks(torch.tensor([[1, 2, 3, 4]]), 2)]
    [[[1, 2]], [[3, 4]]]
    """
    return columns.tensor_split(n_blocks, dim=-1)
