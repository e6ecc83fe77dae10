"""Where a run stands: modules that draw at random are told, so that a draw is a function of its place alone."""

from typing import NamedTuple

from torch import nn


class Place(NamedTuple):
    """The seed of a run, its step, and the first row of the batch that a forward pass reads."""

    seed: int
    step: int
    first_row: int = 0


class Placed(nn.Module):
    """Base of the modules that draw: ``layer`` tells them apart, ``place`` is None outside a run."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = 0
        self.place: Place | None = None
        self.uses = 0

    def count_use(self) -> int:
        """How often the module drew before at this place: one that a network shares draws anew for each use."""
        self.uses += 1
        return self.uses - 1


def set_place(model: nn.Module, place: Place | None) -> None:
    """Tell every drawing module of a model where the run stands (None: outside a run)."""
    drawing = (module for module in model.modules() if isinstance(module, Placed))
    for number, module in enumerate(drawing):
        module.layer, module.place, module.uses = number, place, 0
