"""The pictures of a run: the image or slide of a bag, and a picture of each instance."""

import threading
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bagwise.errors import InputError
from bagwise.explain.heatmaps.grounds import Ground, open_ground
from bagwise.explain.heatmaps.pictures import Pictures
from bagwise.explain.heatmaps.tiles import tiles_of
from bagwise.explain.heatmaps.top_tiles import tile_picture
from bagwise.figures.pictures import displayable, is_picture
from bagwise.showing.keeping import Kept
from bagwise.showing.locating import pictures_of
from bagwise.showing.shown_run import ShownRun
from bagwise.viewer.deep_zoom import jpeg, read_tile

PICTURES_KEPT = 4
TILES_KEPT = 1000  # some 20 kB each
READ_TOGETHER = 4  # tiles that are read at the same time; each may need a dozen MB until it is made small
BAGS_KEPT = 4


class Found(NamedTuple):
    """The picture of a bag, or none, and then perhaps why."""

    picture: Ground | None
    problem: str | None


class Gallery:
    """Looks pictures up and keeps the last few open; a slide that is dropped closes by itself."""

    def __init__(self, shown: ShownRun, given: Pictures | None = None) -> None:
        """``given``: the pictures of a folder that someone named; without it they are looked for where the data say."""
        self._shown = shown
        self._given = given
        self._own = Kept(1, lambda: pictures_of(shown.run))
        self._found = Kept(PICTURES_KEPT, self._find)
        self._tiles = Kept(TILES_KEPT, self._read_tile)
        self._reading = threading.BoundedSemaphore(READ_TOGETHER)
        self._bytes = Kept(BAGS_KEPT, lambda bag: displayable(shown.bag(bag).instances))

    def of_bag(self, bag: int) -> Found:
        return self._found.get(bag)

    def tile(self, bag: int, level: int, column: int, row: int) -> bytes:
        """A tile of the bag's picture as JPEG."""
        return self._tiles.get(bag, level, column, row)

    def of_instance(self, bag: int, instance: int) -> np.ndarray:
        """Pixels to show of an instance: itself if it is an image, else what the bag's picture has at its place."""
        one = self._shown.bag(bag)
        if is_picture(one.instance_shape):
            return self._bytes.get(bag)[instance]
        picture, problem = self.of_bag(bag)
        if picture is None:
            raise InputError(problem or "the instances of this bag are no pictures, and there is no picture of it")
        return tile_picture(picture, tiles_of(one), instance)

    def _read_tile(self, bag: int, level: int, column: int, row: int) -> bytes:
        picture = self.of_bag(bag).picture
        if picture is None:
            raise IndexError(bag)
        with self._reading:
            return jpeg(read_tile(picture, level, column, row))

    def _find(self, bag: int) -> Found:
        try:
            path = self._path(self._shown.run.predictions[bag]["bag"])
            return Found(None if path is None else open_ground(path), None)
        except InputError as error:
            return Found(None, str(error))

    def _path(self, name: str) -> Path | None:
        if self._given is not None:
            return self._given.get(name)
        own = self._own.get()
        return None if own is None else own.find(name)
