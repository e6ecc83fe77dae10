"""Whether a training batch fits into the memory that was granted, or has to be read in pieces."""

import copy

import numpy as np
import torch
from torch import Tensor, nn

from bagwise.bags import Bags
from bagwise.models import BagModel
from bagwise.training.batches import tensors
from bagwise.training.streaming.gradient import streamed_scores
from bagwise.training.streaming.pieces import pieces
from bagwise.training.streaming.terms import streams

PIECE = 2048  # rows at once where a batch is read in pieces
BACKWARD = 1.4  # times what was kept is what a backward pass holds at most: gradients stand beside it
SAMPLE = 64  # rows by which the memory of a row is measured


class Budget:
    """Runs training batches in so many bytes: at once where they fit, else in pieces, with the same gradients.

    What counts is what the backward pass holds of the instances: the bags themselves may lie in a mapped file.
    """

    def __init__(self, granted: float) -> None:
        self.granted = granted
        self.bytes_a_row: float | None = None

    def scores(self, model: nn.Module, bags: Bags, chosen: np.ndarray, device: torch.device) -> Tensor:
        """The scores of the chosen bags, ready for a backward pass."""
        if streams(model) and not self._holds(model, bags, chosen, device):
            return streamed_scores(model, bags, chosen, device, PIECE)
        return model(*tensors(bags[chosen], device)).scores

    def _holds(self, model: BagModel, bags: Bags, chosen: np.ndarray, device: torch.device) -> bool:
        n_rows = int(bags.sizes[chosen].sum())
        if n_rows <= PIECE:
            return True
        if self.bytes_a_row is None:
            self.bytes_a_row = bytes_a_row(model, bags, chosen, device)
        return n_rows * self.bytes_a_row * BACKWARD <= self.granted


def bytes_a_row(model: BagModel, bags: Bags, chosen: np.ndarray, device: torch.device) -> float:
    """What the graph of a forward pass keeps for each instance, found by one over a few; the model stays as it is."""
    trial = copy.deepcopy(model)
    known = {value.untyped_storage().data_ptr() for value in (*trial.parameters(), *trial.buffers())}
    kept: dict[int, int] = {}

    def weigh(value: Tensor) -> Tensor:
        storage = value.untyped_storage()
        if storage.data_ptr() not in known:
            kept[storage.data_ptr()] = storage.nbytes()
        return value

    sample = next(pieces(bags, chosen, SAMPLE)).bags
    watched = torch.autograd.graph.saved_tensors_hooks(weigh, lambda value: value)
    with torch.random.fork_rng([device] if device.type == "cuda" else []), watched:
        trial(*tensors(sample, device))
    return sum(kept.values()) / sample.n_instances
