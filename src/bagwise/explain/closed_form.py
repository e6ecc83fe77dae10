"""Contributions in closed form, for models whose score is linear in the embeddings once the weights are known.

    s = g( Σₖ aₖ hₖ ),  g(z) = W z + b        cₖ = aₖ · W hₖ        baseline = b

This holds for all kinds of attention (with several attention heads, cₖ is the sum over them), for mean (aₖ = 1/K) and
for sum (aₖ = 1), with a linear head; and for attention at instance level, which averages the linear scores W hₖ + b.
The weights depend on the whole bag, so cₖ is the part of an instance in the score of this bag, not the change of the
score if the instance were removed. A model with a context has no closed form, because the embedding hₖ then depends on
the other instances too.

The encoder runs as in a prediction, on its device and in its precision, over chunks of the bags that fit in memory.
Pooling and head are copied to float64, so that the contributions sum to the score up to rounding in float64.
"""

import copy
from collections.abc import Iterator
from typing import NamedTuple, TypeVar

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional

from bagwise.bags import Bags
from bagwise.explain.attribution import Attribution
from bagwise.nn import BagModel, Offsets, Residual, list_members, segment_sum
from bagwise.nn.pooling import (
    AdditivePooling,
    AttendedScores,
    AttentionPooling,
    Exponents,
    Mean,
    Sum,
    make_rowless_terms,
)
from bagwise.targets import Likelihood
from bagwise.training import ROWS_AT_ONCE, array_to_tensor, bags_to_tensors
from bagwise.training.streaming import RowCollector, cut_pieces

Part = TypeVar("Part", bound=nn.Module)
LINEAR = (nn.Linear, nn.Identity, Residual)


class LinearForm(NamedTuple):
    """The parts of a model that appear in the formula, in float64."""

    pooling: AdditivePooling  # computes the weights a
    head: nn.Module  # g
    n_blocks: int  # blocks of columns of W: one per attention head


def has_closed_form(model: BagModel) -> bool:
    """Return whether the score is a sum over instances; the types of the pooling and the head decide.

    With a context it is not: the embedding of an instance depends on the other instances of its bag.
    """
    return not model.mixes_instances and all(map(_is_linear, list_members(model)))


def _is_linear(model: BagModel) -> bool:
    """Return whether the score is linear in the embeddings once the weights are known."""
    if type(model.pooling) is AttendedScores:
        return type(model.pooling.classifier) in LINEAR and type(model.head) is nn.Identity
    averages = isinstance(model.pooling, AttentionPooling) or type(model.pooling) in (Mean, Sum)
    return averages and type(model.head) in LINEAR


def attribute_in_closed_form(model: BagModel, likelihood: Likelihood, bags: Bags, device: torch.device) -> Attribution:
    """Compute all contributions; those of an average of models are the means over its members."""
    members = [_attribute_member(member, likelihood, bags, device) for member in list_members(model)]
    return Attribution(
        scores=np.mean([member.scores for member in members], axis=0),
        baseline=np.mean([member.baseline for member in members], axis=0),
        contributions=np.mean([member.contributions for member in members], axis=0),
        method="closed form",
    )


@torch.inference_mode()
def _attribute_member(model: BagModel, likelihood: Likelihood, bags: Bags, device: torch.device) -> Attribution:
    """Compute all contributions; only a few numbers per instance, attention head and class are stored."""
    form = get_linear_form(model)
    exponents, evidence = RowCollector(bags.n_instances), RowCollector(bags.n_instances)
    for rows in compute_embeddings(model, bags, device):
        exponents.add(form.pooling.terms(rows).exponents)
        evidence.add(compute_evidence(form, rows).flatten(1))
        bias = compute_bias(form, rows)
    shares = compute_shares(form.pooling, exponents.rows, array_to_tensor(bags.offsets))
    evidence_by_block = evidence.rows.unflatten(1, (form.n_blocks, -1))
    contributions = likelihood.score_outputs((shares[:, :, None] * evidence_by_block).sum(dim=1).numpy())
    baseline = likelihood.score_outputs(bias.numpy())[0]
    sums = segment_sum(torch.from_numpy(contributions), array_to_tensor(bags.offsets)).numpy()
    return Attribution(scores=baseline + sums, baseline=baseline, contributions=contributions, method="closed form")


def get_linear_form(model: BagModel) -> LinearForm:
    """Return the parts of a model for which ``has_closed_form`` holds."""
    pooling = model.pooling
    if isinstance(pooling, AttendedScores):
        return LinearForm(to_float64(pooling), to_float64(pooling.classifier), 1)
    assert isinstance(pooling, AdditivePooling)
    heads = pooling.heads if isinstance(pooling, AttentionPooling) else 1
    return LinearForm(to_float64(pooling), to_float64(model.head), heads)


def to_float64(part: Part) -> Part:
    """Copy a module to float64 on the CPU (MPS has no float64), in evaluation mode."""
    return copy.deepcopy(part).cpu().double().eval()


def compute_embeddings(model: BagModel, bags: Bags, device: torch.device) -> Iterator[Float[Tensor, "instances width"]]:
    """Yield the embeddings of all instances, in order and in chunks; the mode of the model is restored afterwards.

    The chunks may divide bags, so the model must not mix instances.
    """
    assert not model.mixes_instances
    was_training = model.training
    model.eval()
    try:
        for piece in cut_pieces(bags, np.arange(len(bags)), ROWS_AT_ONCE):
            yield model.embed(*bags_to_tensors(piece.bags, device)).cpu().double()
    finally:
        model.train(was_training)


def compute_evidence(
    form: LinearForm, rows: Float[Tensor, "instances width"]
) -> Float[Tensor, "instances blocks scores"]:
    """Compute W hₖ for each block of columns of W: the head is applied to the embedding in that block, without bias."""
    width, bias = rows.shape[1], compute_bias(form, rows)
    padded = (functional.pad(rows, (n * width, (form.n_blocks - 1 - n) * width)) for n in range(form.n_blocks))
    return torch.stack([form.head(block) - bias for block in padded], dim=1)


def compute_bias(form: LinearForm, rows: Float[Tensor, "instances width"]) -> Float[Tensor, "1 scores"]:
    """Compute b, the output of the head for a zero embedding."""
    return form.head(rows.new_zeros(1, form.n_blocks * rows.shape[1]))


def compute_shares(
    pooling: AdditivePooling, exponents: Exponents, offsets: Offsets
) -> Float[Tensor, "instances blocks"]:
    """Compute the factors aₖ."""
    totals = pooling.accumulate(make_rowless_terms(exponents), offsets)
    shares = pooling.weigh(exponents, totals, offsets)
    if isinstance(pooling, AttendedScores):
        return shares.mean(dim=1, keepdim=True)  # every head averages the same scores
    if isinstance(pooling, Sum):
        return torch.ones_like(shares)
    return shares
