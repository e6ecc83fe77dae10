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


def drawing(model: nn.Module) -> list[Placed]:
    """The modules of a model that draw, in their order."""
    return [module for module in model.modules() if isinstance(module, Placed)]


def set_place(model: nn.Module, place: Place | None) -> None:
    """Tell every drawing module of a model where the run stands (None: outside a run)."""
    seat(drawing(model), place)


def seat(modules: list[Placed], place: Place | None) -> None:
    """Tell all drawing modules of one model where the run stands; quick, because every step does it."""
    for number, module in enumerate(modules):
        vars(module).update(layer=number, place=place, uses=0)  # past torch's slow search for parameters
