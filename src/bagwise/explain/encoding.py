"""The parts of a network as an explanation needs them: embeddings by the model's own encoder, all else in float64.

The encoder runs as in a prediction, on its device and in its precision, over pieces of the bags that need little
memory. Pooling and head are copied to float64, so that contributions add up to the score to the last digits.
"""

import copy
from collections.abc import Iterator
from typing import TypeVar

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn

from bagwise.bags import Bags
from bagwise.models import BagModel
from bagwise.training.batches import tensors
from bagwise.training.inference import ROWS_AT_ONCE
from bagwise.training.streaming.pieces import pieces

Part = TypeVar("Part", bound=nn.Module)


def embeddings(model: BagModel, bags: Bags, device: torch.device) -> Iterator[Float[Tensor, "instances width"]]:
    """The embeddings of all instances in their order, piece by piece; the mode of the encoder is restored."""
    was_training = model.encoder.training
    model.encoder.eval()
    try:
        for piece in pieces(bags, np.arange(len(bags)), ROWS_AT_ONCE):
            yield model.encoder(tensors(piece.bags, device)[0]).cpu().double()
    finally:
        model.encoder.train(was_training)


def exact(part: Part) -> Part:
    """A copy of a part in float64, on the CPU (MPS has no float64), as it acts in a prediction."""
    return copy.deepcopy(part).cpu().double().eval()
