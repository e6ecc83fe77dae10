"""All that one viewer shows: its runs, each with its layers and its pictures."""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from bagwise.explain.heatmaps.pictures import Pictures
from bagwise.figures.pictures import is_picture
from bagwise.runs import Run
from bagwise.showing.keeping import Kept
from bagwise.showing.layers import Layers
from bagwise.showing.seeds import other_seeds
from bagwise.showing.shown_run import ShownRun
from bagwise.summary import Plain
from bagwise.viewer.bag_page import describe_bag, describe_instance
from bagwise.viewer.catalogue import describe_run, list_bags
from bagwise.viewer.differing import Usual, usual
from bagwise.viewer.gallery import Gallery

RUNS_KEPT = 4


class Show(NamedTuple):
    """A run on show."""

    name: str
    shown: ShownRun
    layers: Layers
    gallery: Gallery


class Session:
    """Runs by number; what is asked of a run or bag that is not there raises IndexError."""

    def __init__(self, runs: dict[str, Run], slides: Path | None = None) -> None:
        pictures = None if slides is None else Pictures.of_folder(slides)
        opened = {name: ShownRun(run) for name, run in runs.items()}
        self._shows = [Show(name, one, Layers(one), Gallery(one, pictures)) for name, one in opened.items()]
        self._other_seeds = other_seeds(list(runs.values()))
        self._usual = Kept(RUNS_KEPT, self._usual_of)

    def runs(self) -> list[Plain]:
        return [describe_run(number, show.name, show.shown.run) for number, show in enumerate(self._shows)]

    def bags(self, run: int) -> list[Plain]:
        return list_bags(self._shows[run].shown.run)

    def show(self, run: int, bag: int) -> Show:
        """The run that has such a bag."""
        show = self._shows[run]
        if bag >= len(show.shown.run.predictions):
            raise IndexError(bag)
        return show

    def bag(self, run: int, bag: int) -> Plain:
        show = self.show(run, bag)
        return describe_bag(show.shown, show.layers, bag, show.gallery.of_bag(bag), self._over_seeds(run, bag))

    def instance(self, run: int, bag: int, instance: int) -> Plain:
        show = self.show(run, bag)
        if instance >= len(show.layers.weights(bag)):
            raise IndexError(instance)
        over_seeds = self._over_seeds(run, bag)
        return describe_instance(show.shown, show.layers, self._usual.get(run), bag, instance, over_seeds)

    def warm(self) -> None:
        """Open the data of the first run before anyone asks."""
        _ = self._shows[0].shown.opened

    def _over_seeds(self, run: int, bag: int) -> list[np.ndarray]:
        """The weights of a bag in this run and in those that differ in their seed alone."""
        return [self._shows[number].layers.weights(bag) for number in (run, *self._other_seeds[run])]

    def _usual_of(self, run: int) -> Usual | None:
        bags, _ = self._shows[run].shown.opened
        return None if bags is None or is_picture(bags.instance_shape) else usual(bags.instances)
