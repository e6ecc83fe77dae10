"""What a folder of features of another tool must tell, whichever tool wrote it."""

from abc import ABC, abstractmethod
from pathlib import Path
from typing import ClassVar, NamedTuple

import numpy as np

from bagwise.errors import InputError


class Slide(NamedTuple):
    """The features of one slide; what the tool's files do not tell is None.

    features : (n_instances, width), one row a tile; none when no tissue was found
    positions : (n_instances, 2), x and y of each tile's upper left corner in level-0 pixels, or None
    tile_size : side of a tile in level-0 pixels
    extractor : what made the features
    note : what a user should know of the positions, where something is missing
    """

    features: np.ndarray
    positions: np.ndarray | None = None
    tile_size: float | None = None
    extractor: str | None = None
    note: str = ""


class FeatureFolder(ABC):
    """Feature files of one tool; slides are listed at once and read one by one.

    mpp : micrometres a level-0 pixel, for tools that do not record it
    patches : the folder of the tool's files of positions, where it is not in its usual place
    """

    tool: ClassVar[str]

    def __init__(self, folder: Path, mpp: float | None = None, patches: Path | None = None) -> None:
        self.folder = folder
        self.mpp = mpp
        self.patches = patches

    @classmethod
    @abstractmethod
    def recognise(cls, folder: Path) -> str | None:
        """Why the folder looks like this tool's, or None."""

    @abstractmethod
    def slides(self) -> list[str]:
        """The names of the slides, sorted."""

    @abstractmethod
    def read(self, slide: str) -> Slide:
        """One slide, checked."""

    @abstractmethod
    def sources(self, slide: str) -> list[list[Path]]:
        """The files that are read for a slide, each by the places it may lie at: the first that is there is read."""


def stems(folder: Path, suffix: str) -> list[str]:
    """Names of the files with a suffix, without it; hidden files are drafts of others."""
    found = (file.name for file in folder.iterdir() if file.name.endswith(suffix) and file.is_file())
    return sorted(name.removesuffix(suffix) for name in found if not name.startswith("."))


def checked(path: Path, slide: Slide, bounds: tuple[float, float] | None = None) -> Slide:
    """The slide, if it has a position for each row, each within the slide where its size is known."""
    if slide.features.ndim != 2 or slide.features.dtype.kind not in "fiu":
        raise InputError(f"{path} has features of shape {slide.features.shape}; expected one row a tile, of numbers")
    positions = slide.positions
    if positions is None or len(slide.features) == 0:
        return slide._replace(positions=None, tile_size=None) if positions is None else slide
    if positions.shape != (len(slide.features), 2):
        raise InputError(
            f"{path} has {len(slide.features)} rows of features and positions of shape {positions.shape}; "
            "make both with one run of the tool"
        )
    _check_inside(path, positions, bounds)
    return slide


def _check_inside(path: Path, positions: np.ndarray, bounds: tuple[float, float] | None) -> None:
    inside = np.isfinite(positions).all(axis=1) & (positions >= 0).all(axis=1)
    if bounds is not None:
        inside &= (positions < np.array(bounds)).all(axis=1)
    if not inside.all():
        x, y = positions[int(np.argmin(inside))].tolist()
        size = "" if bounds is None else f" of {bounds[0]:g} × {bounds[1]:g} level-0 pixels"
        raise InputError(
            f"{path} has {int((~inside).sum())} positions outside the slide{size}, the first at ({x:g}, {y:g}); "
            "are they of another slide, or not in level-0 pixels?"
        )


def positive(path: Path, attributes: dict[str, object], name: str) -> float | None:
    """An attribute that must be a positive number where it is there."""
    value = attributes.get(name)
    if value is None:
        return None
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 < value < 1e12:
        raise InputError(f"{path}: the attribute {name} is {value!r}; expected a positive number")
    return float(value)
