"""What makes features of tiles, and how it reaches other processes: as a name, never as weights."""

import functools
from collections.abc import Callable, Hashable
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np

from bagwise.names import canonical
from bagwise.slides.packages import LITE, PIXELS


@runtime_checkable
class Encodes(Protocol):
    """What makes features of tiles: an ``Extractor``, or anything with a name and this method."""

    @property
    def name(self) -> str: ...

    def features(self, tiles: np.ndarray) -> np.ndarray:
        """(n, size, size, 3) bytes → (n, features) float16."""


class Promised(NamedTuple):
    """An extractor that every process builds for itself, once, when it first needs it.

    build : a function of a module, which other processes find by its name; it gets the arguments
    """

    name: str
    build: Callable[..., Encodes]
    arguments: tuple[Hashable, ...] = ()

    def built(self) -> Encodes:
        return _built(self.build, self.arguments)

    def features(self, tiles: np.ndarray) -> np.ndarray:
        return self.built().features(tiles)


def extractor_name(encoder: str) -> str | None:
    """The name that an encoder's features bear, known without building it; None for pixels.

    >>> extractor_name("EfficientNet_Lite0"), extractor_name("Pixels")
    ('efficientnet-lite0', None)
    """
    if canonical(encoder) == canonical(PIXELS):
        return None
    return LITE if canonical(encoder) == canonical(LITE) else encoder


@functools.cache
def _built(build: Callable[..., Encodes], arguments: tuple[Hashable, ...]) -> Encodes:
    return build(*arguments)
