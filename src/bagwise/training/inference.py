"""The one way a trained model is run over bags: evaluation, prediction and explanation all call it."""

from typing import NamedTuple

import numpy as np
import torch
from torch import nn

from bagwise.bags import Bags
from bagwise.errors import InputError
from bagwise.models import Prediction
from bagwise.training.batches import by_rows, tensors
from bagwise.training.streaming import Gathered, streamed_prediction, streams

ROWS_AT_ONCE = 512  # a larger bag is read in pieces of so many: they stay in the cache, and take little memory


class Inferred(NamedTuple):
    """Scores and weights as arrays, aligned with the bags and their instances."""

    scores: np.ndarray  # (bags, scores)
    weights: np.ndarray  # (instances, heads)


def infer(model: nn.Module, bags: Bags, device: torch.device) -> Inferred:
    """Run a model in evaluation mode, without gradients, in packed batches; its mode is restored."""
    if len(bags) == 0:
        raise InputError("there are no bags to predict; give at least one")
    was_training = model.training
    model.eval()
    scores, weights = Gathered(len(bags)), Gathered(bags.n_instances)
    try:
        with torch.inference_mode():
            for rows in by_rows(bags.sizes, ROWS_AT_ONCE):
                predicted = _predict(model, bags[rows], device)
                scores.add(predicted.scores.cpu())
                weights.add(predicted.weights.cpu())
    finally:
        model.train(was_training)
    return Inferred(scores.rows.numpy(), weights.rows.numpy())


def _predict(model: nn.Module, bags: Bags, device: torch.device) -> Prediction:
    """Packed bags at once, a bag too large for that in pieces, unless its pooling was written without them in mind."""
    if bags.n_instances > ROWS_AT_ONCE and streams(model):
        return streamed_prediction(model, bags, device, ROWS_AT_ONCE)
    return model(*tensors(bags, device))
