"""What the instances of a piece contribute to the totals of their bags: the encoder, then the pooling's terms."""

from typing import TypeGuard

import torch
from torch import nn

from bagwise.models import BagModel
from bagwise.pooling import AdditivePooling, Terms
from bagwise.segments import Offsets
from bagwise.training.batches import tensors
from bagwise.training.streaming.pieces import Piece


def streams(model: nn.Module) -> TypeGuard[BagModel]:
    """Whether a model can read a bag in pieces; one with a pooling that somebody else wrote may not."""
    return isinstance(model, BagModel) and isinstance(model.pooling, AdditivePooling)


def pooling_of(model: BagModel) -> AdditivePooling:
    """The pooling of a model that ``streams``."""
    assert isinstance(model.pooling, AdditivePooling)
    return model.pooling


def terms_of(model: BagModel, piece: Piece, device: torch.device) -> tuple[Terms, Offsets]:
    """The terms of a piece's instances, and the bags they belong to."""
    instances, offsets = tensors(piece.bags, device)
    return pooling_of(model).terms(model.encoder(instances)), offsets
