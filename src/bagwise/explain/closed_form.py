"""Contributions in closed form, where the score of a bag is linear in its embeddings once the weights are known.

    s = g( Σₖ aₖ hₖ ),  g(z) = W z + b        cₖ = aₖ · W hₖ        baseline = b

So it is under attention of any kind (with several heads: the sum over them), mean (aₖ = 1/K) and sum (aₖ = 1), if the
head is linear; and for attention at instance level, which averages the linear scores W hₖ + b. The weights depend on
the whole bag, so cₖ is an instance's part in this bag, not what the score would lose without it.
"""

from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional

from bagwise import segments
from bagwise.bags import Bags
from bagwise.connections import Residual
from bagwise.explain.contract import Attribution, by_class
from bagwise.explain.encoding import embeddings, exact
from bagwise.models import BagModel
from bagwise.pooling import AdditivePooling, AttendedScores, AttentionPooling, Mean, Sum
from bagwise.pooling.additive import Exponents, alone
from bagwise.segments import Offsets
from bagwise.training.batches import tensor
from bagwise.training.streaming import Gathered

LINEAR = (nn.Linear, nn.Identity, Residual)


class LinearForm(NamedTuple):
    """A model as the formula has it, in float64."""

    pooling: AdditivePooling  # gives the weights a
    head: nn.Module  # g
    n_blocks: int  # in which g reads the embedding: one for each head of the attention


def has_closed_form(model: BagModel) -> bool:
    """Whether the score is linear in the embeddings: by the kind of the pooling and the head."""
    if type(model.pooling) is AttendedScores:
        return type(model.pooling.classifier) in LINEAR and type(model.head) is nn.Identity
    averages = isinstance(model.pooling, AttentionPooling) or type(model.pooling) in (Mean, Sum)
    return averages and type(model.head) in LINEAR


@torch.inference_mode()
def closed_form(model: BagModel, bags: Bags, device: torch.device) -> Attribution:
    """The contributions of all instances; what is kept of an instance are a few numbers for each head and class."""
    form = linear_form(model)
    exponents, evidence = Gathered(bags.n_instances), Gathered(bags.n_instances)
    for rows in embeddings(model, bags, device):
        exponents.add(form.pooling.terms(rows).exponents)
        evidence.add(evidence_of(form, rows).flatten(1))
        bias = bias_of(form, rows)
    shares = shares_of(form.pooling, exponents.rows, tensor(bags.offsets))
    parts = evidence.rows.unflatten(1, (form.n_blocks, -1))
    return _attribution((shares[:, :, None] * parts).sum(dim=1).numpy(), bias.numpy(), bags.offsets)


def linear_form(model: BagModel) -> LinearForm:
    """The parts of a model that ``has_closed_form``."""
    pooling = model.pooling
    if isinstance(pooling, AttendedScores):
        return LinearForm(exact(pooling), exact(pooling.classifier), 1)
    assert isinstance(pooling, AdditivePooling)
    heads = pooling.heads if isinstance(pooling, AttentionPooling) else 1
    return LinearForm(exact(pooling), exact(model.head), heads)


def evidence_of(form: LinearForm, rows: Float[Tensor, "instances width"]) -> Float[Tensor, "instances blocks scores"]:
    """W hₖ, for each block of the columns of W: the head of an embedding in that block, without its bias."""
    width, bias = rows.shape[1], bias_of(form, rows)
    placed = (functional.pad(rows, (n * width, (form.n_blocks - 1 - n) * width)) for n in range(form.n_blocks))
    return torch.stack([form.head(each) - bias for each in placed], dim=1)


def bias_of(form: LinearForm, rows: Float[Tensor, "instances width"]) -> Float[Tensor, "1 scores"]:
    """b, the head of nothing."""
    return form.head(rows.new_zeros(1, form.n_blocks * rows.shape[1]))


def shares_of(pooling: AdditivePooling, exponents: Exponents, offsets: Offsets) -> Float[Tensor, "instances blocks"]:
    """The factors aₖ."""
    totals = pooling.summarise(alone(exponents), offsets)
    shares = pooling.weigh(exponents, totals, offsets)
    if isinstance(pooling, AttendedScores):
        return shares.mean(dim=1, keepdim=True)  # heads vote: each averages the same scores
    if isinstance(pooling, Sum):
        return torch.ones_like(shares)
    return shares


def _attribution(contributions: np.ndarray, bias: np.ndarray, offsets: np.ndarray) -> Attribution:
    signed, baseline = by_class(contributions), by_class(bias)[0]
    sums = segments.sum(torch.from_numpy(signed), tensor(offsets)).numpy()
    return Attribution(baseline + sums, baseline, signed, "closed form")
