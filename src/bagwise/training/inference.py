"""Inference with a trained model, for evaluation, prediction and explanation."""

import math
from typing import NamedTuple

import numpy as np
import torch
from torch import nn

from bagwise.bags import Bags
from bagwise.errors import InputError
from bagwise.nn import Prediction
from bagwise.training.batches import bags_to_tensors, group_by_rows
from bagwise.training.streaming.memory import MemoryBudget
from bagwise.training.streaming.pieces import RowCollector, is_streamable
from bagwise.training.streaming.prediction import stream_prediction

ROWS_AT_ONCE = 512  # larger bags are read in pieces of this many rows, which fit into the cache and need little memory


class InferenceResult(NamedTuple):
    """Scores and weights of bags.

    Attributes
    ----------
    scores : ndarray of shape (bags, scores)
        Scores of the bags, before the link function.
    weights : ndarray of shape (instances, heads)
        Weights of the instances; each column sums to one within each bag.
    """

    scores: np.ndarray
    weights: np.ndarray


def run_inference(model: nn.Module, bags: Bags, device: torch.device, *, memory: float = math.inf) -> InferenceResult:
    """Run a model in evaluation mode, without gradients, in packed batches.

    Parameters
    ----------
    model : nn.Module
        Maps instances and offsets to a ``Prediction``; its mode is restored afterwards.
    bags : Bags
        Bags to predict, at least one.
    device : torch.device
        Device of the model.
    memory : float, default=inf
        Memory limit in bytes, for bags that a context must read whole; other bags are read in pieces.

    Returns
    -------
    InferenceResult
        Scores of the bags and weights of their instances.

    Raises
    ------
    InputError
        If there are no bags, or a bag does not fit into memory and cannot be read in pieces.
    """
    if len(bags) == 0:
        raise InputError("there are no bags to predict; give at least one")
    was_training, budget = model.training, MemoryBudget(memory)
    model.eval()
    scores, weights = RowCollector(len(bags)), RowCollector(bags.n_instances)
    try:
        with torch.inference_mode():
            for rows in group_by_rows(bags.sizes, ROWS_AT_ONCE):
                budget.check_whole_bags(model, bags, np.arange(rows.start, rows.stop), device)
                prediction = _predict(model, bags[rows], device)
                scores.add(prediction.scores.cpu())
                weights.add(prediction.weights.cpu())
    finally:
        model.train(was_training)
    return InferenceResult(scores=scores.rows.numpy(), weights=weights.rows.numpy())


def _predict(model: nn.Module, bags: Bags, device: torch.device) -> Prediction:
    """Predict packed bags at once, or a single large bag in pieces if the pooling supports it."""
    if bags.n_instances > ROWS_AT_ONCE and is_streamable(model):
        return stream_prediction(model, bags, device, ROWS_AT_ONCE)
    return model(*bags_to_tensors(bags, device))
