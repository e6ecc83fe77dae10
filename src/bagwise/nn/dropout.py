"""Dropout whose masks are a function of (seed, step, layer, use, row), and the base class of such random modules.

The training loop sets the position in the random stream before each step. The same position gives the same masks, so
masks are reproduced exactly when a run is resumed, and when a batch is processed in pieces.
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
        Number of the optimizer step.
    first_row : int, default=0
        Index within the batch of the first row of the forward pass.
    """

    seed: int
    step: int
    first_row: int = 0


class RandomModule(nn.Module):
    """Base class of modules that sample random numbers.

    Attributes
    ----------
    layer : int
        Index of the module among the random modules of the model.
    position : StreamPosition or None
        Position in the random stream; None outside a run.
    uses : int
        Number of times the module has sampled since the position was set.
    """

    def __init__(self) -> None:
        super().__init__()
        self.layer = 0
        self.position: StreamPosition | None = None
        self.uses = 0

    def sample_bits(self, position: StreamPosition, purpose: Purpose, rows: int, columns: int) -> np.ndarray:
        """Sample a (rows, columns) array of 32-bit integers at a position.

        A module that is called several times in one forward pass samples new numbers for each call.
        """
        path = (self.layer, position.step, self.count_use())
        return random_bits(position.seed, purpose, path, position.first_row, (rows, columns))

    def count_use(self) -> int:
        """Return how many times the module has sampled at this position, and increment the count."""
        self.uses += 1
        return self.uses - 1


class Dropout(RandomModule):
    """Set each value to zero with probability p during training, and scale the others by 1/(1 − p).

    When bagwise trains the model, the masks are counter-based. In other training loops this module is equivalent to
    ``torch.nn.Dropout``. A module that is called several times in one forward pass uses a separate mask for each call.
    Therefore the forward pass of a step must not be recomputed, as activation checkpointing does.

    Parameters
    ----------
    p : float, default=0.5
        Dropout probability, at least 0 and below 1.
    """

    def __init__(self, p: float = 0.5) -> None:
        super().__init__()
        self.p = check_real_number("dropout", p, minimum=0, below=1)

    def forward(self, values: Tensor) -> Tensor:
        """Apply dropout.

        Parameters
        ----------
        values : Tensor of shape (rows, …)
            Values; one row per instance.

        Returns
        -------
        Tensor of shape (rows, …)
            Values after dropout; unchanged in evaluation mode.
        """
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
    """Return the modules of a model that sample random numbers.

    Parameters
    ----------
    model : nn.Module
        Any module.

    Returns
    -------
    list of RandomModule
        Random modules in the order of ``model.modules()``.
    """
    return [module for module in model.modules() if isinstance(module, RandomModule)]


def set_stream_position(model: nn.Module, position: StreamPosition | None) -> None:
    """Set the position of every random module of a model.

    Parameters
    ----------
    model : nn.Module
        Any module.
    position : StreamPosition or None
        Position in the random stream; None outside a run.
    """
    set_module_positions(list_random_modules(model), position)


def set_module_positions(modules: list[RandomModule], position: StreamPosition | None) -> None:
    """Set the position of random modules.

    Unlike ``set_stream_position`` it does not search the model, so it is fast enough to be called at every step.

    Parameters
    ----------
    modules : list of RandomModule
        All random modules of one model, as returned by ``list_random_modules``.
    position : StreamPosition or None
        Position in the random stream; None outside a run.
    """
    for number, module in enumerate(modules):
        vars(module).update(layer=number, position=position, uses=0)  # bypasses the slow nn.Module.__setattr__
