"""Dropout whose masks are a function of (seed, step, layer, use, row), and the base class of such random modules.

A run sets the position in the random stream before each step. The same position gives the same masks, so they are
reproduced exactly after a resume, or when a batch is read in pieces.
"""

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from bagwise.arguments import check_real_number
from bagwise.nn.random_streams import Purpose, random_bits


class StreamPosition(NamedTuple):
    """Position of a forward pass in the random stream of a run.

    Parameters
    ----------
    seed : int
        Seed of the run.
    step : int
        Step of the run.
    first_row : int, default=0
        Number of the first row of the forward pass within the batch.
    """

    seed: int
    step: int
    first_row: int = 0


class RandomModule(nn.Module):
    """Base class of the modules that sample random numbers.

    Attributes
    ----------
    layer : int
        Number of the module among the random modules of the model.
    position : StreamPosition or None
        Position of the run; None outside a run.
    uses : int
        Number of uses since the position was set.
    """

    def __init__(self) -> None:
        super().__init__()
        self.layer = 0
        self.position: StreamPosition | None = None
        self.uses = 0

    def sample_bits(self, position: StreamPosition, purpose: Purpose, rows: int, columns: int) -> np.ndarray:
        """Sample a (rows, columns) array of 32-bit integers at a position.

        A module that occurs several times in a network samples new numbers for each use.
        """
        path = (self.layer, position.step, self.count_use())
        return random_bits(position.seed, purpose, path, position.first_row, (rows, columns))

    def count_use(self) -> int:
        """Return how often the module has sampled at this position before, and count this use."""
        self.uses += 1
        return self.uses - 1


class Dropout(RandomModule):
    """Set each value to zero with probability p during training, and scale the others by 1/(1 − p).

    In a run of bagwise the masks are counter-based; in your own training loop this is the dropout of torch. A module
    that occurs several times in a network has a separate mask for each use. Therefore no forward pass of a step may be
    computed twice (as activation checkpointing does).

    Parameters
    ----------
    p : float, default=0.5
        Dropout probability, at least 0 and below 1.
    """

    def __init__(self, p: float = 0.5) -> None:
        super().__init__()
        self.p = check_real_number("dropout", p, minimum=0, below=1)

    def forward(self, values: Tensor) -> Tensor:
        """Apply dropout to ``values``, a tensor of shape (rows, …)."""
        if not self.training or self.p == 0:
            return values
        if self.position is None:
            return functional.dropout(values, self.p, training=True)
        bits = self.sample_bits(self.position, Purpose.DROPOUT, len(values), values[0].numel())
        kept = torch.from_numpy(bits >= round(self.p * (1 << 32)))
        return values * (kept.to(values.device, values.dtype) / (1 - self.p)).view_as(values)

    def extra_repr(self) -> str:
        return f"p={self.p}"


def list_random_modules(model: nn.Module) -> list[RandomModule]:
    """List the modules of a model that sample random numbers, in the order of the model.

    Parameters
    ----------
    model : nn.Module
        Any module.

    Returns
    -------
    list of RandomModule
    """
    return [module for module in model.modules() if isinstance(module, RandomModule)]


def set_stream_position(model: nn.Module, position: StreamPosition | None) -> None:
    """Set the position of every random module of a model.

    Parameters
    ----------
    model : nn.Module
        Any module.
    position : StreamPosition or None
        Position of the run; None outside a run.
    """
    set_module_positions(list_random_modules(model), position)


def set_module_positions(modules: list[RandomModule], position: StreamPosition | None) -> None:
    """Set the position of random modules; fast, because every step calls it.

    Parameters
    ----------
    modules : list of RandomModule
        All random modules of one model, as returned by ``list_random_modules``.
    position : StreamPosition or None
        Position of the run; None outside a run.
    """
    for number, module in enumerate(modules):
        vars(module).update(layer=number, position=position, uses=0)  # bypasses the slow nn.Module.__setattr__
