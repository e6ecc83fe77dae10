"""The one way a trained model is run over bags: evaluation, prediction and explanation all call it."""

from typing import NamedTuple

import numpy as np
import torch
from torch import nn

from bagwise.bags import Bags
from bagwise.errors import InputError
from bagwise.training.batches import by_rows, tensors

ROWS_AT_ONCE = 4096


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
    scores, weights = [], []
    try:
        with torch.inference_mode():
            for rows in by_rows(bags.sizes, ROWS_AT_ONCE):
                predicted = model(*tensors(bags[rows], device))
                scores.append(predicted.scores.cpu().numpy())
                weights.append(predicted.weights.cpu().numpy())
    finally:
        model.train(was_training)
    return Inferred(np.concatenate(scores), np.concatenate(weights))
