"""Folders of features that other tools extract: the interface of their readers, and the checks that all share."""

from abc import ABC, abstractmethod
from pathlib import Path
from typing import ClassVar, NamedTuple

import numpy as np

from bagwise.errors import InputError
from bagwise.io import hash_file


class SlideFeatures(NamedTuple):
    """The features of one slide; an entry is None where the tool's files do not contain it.

    Attributes
    ----------
    features : ndarray of shape (n_instances, n_features)
        One row per tile; no rows if no tissue was found.
    positions : ndarray of shape (n_instances, 2) or None
        x and y of the upper left corner of each tile, in level-0 pixels.
    tile_size : float or None
        Side of a tile in level-0 pixels.
    extractor : str or None
        Name of the model that computed the features.
    note : str
        What the user should know about missing positions; empty if nothing is missing.
    """

    features: np.ndarray
    positions: np.ndarray | None = None
    tile_size: float | None = None
    extractor: str | None = None
    note: str = ""


class FeatureFolder(ABC):
    """Feature files of one tool. Slides are listed at once and read one by one.

    Parameters
    ----------
    folder : Path
        The folder of feature files.
    mpp : float or None, default=None
        Micrometres per level-0 pixel, for tools that do not record it.
    patches : Path or None, default=None
        The folder of the tool's files of positions; None looks in the usual place.

    Attributes
    ----------
    tool : str
        The name of the tool, as its authors write it.
    """

    tool: ClassVar[str]

    def __init__(self, folder: Path, mpp: float | None = None, patches: Path | None = None) -> None:
        self.folder = folder
        self.mpp = mpp
        self.patches = patches

    @classmethod
    @abstractmethod
    def recognise(cls, folder: Path) -> str | None:
        """Return why a folder looks like one of this tool, or None if it does not."""

    @abstractmethod
    def slides(self) -> list[str]:
        """Return the names of the slides, sorted."""

    @abstractmethod
    def read(self, slide: str) -> SlideFeatures:
        """Read and check one slide."""

    @abstractmethod
    def sources(self, slide: str) -> list[list[Path]]:
        """Return the files from which a slide is read.

        Each entry lists the possible paths of one file; the first path that exists is read.
        """


def list_stems(folder: Path, suffix: str) -> list[str]:
    """List the names of the files with a suffix, without it; hidden files are skipped, as they may be incomplete."""
    found = (file.name for file in folder.iterdir() if file.name.endswith(suffix) and file.is_file())
    return sorted(name.removesuffix(suffix) for name in found if not name.startswith("."))


def check_slide_features(path: Path, slide: SlideFeatures, bounds: tuple[float, float] | None = None) -> SlideFeatures:
    """Return the slide if every row has a position, and every position is inside the slide where its size is known."""
    if slide.features.ndim != 2 or slide.features.dtype.kind not in "fiu":
        raise InputError(
            f"{path}: features must be numbers with one row per tile, got {slide.features.dtype} of shape "
            f"{slide.features.shape}; extract them again"
        )
    positions = slide.positions
    if positions is None or len(slide.features) == 0:
        return slide._replace(positions=None, tile_size=None) if positions is None else slide
    if positions.shape != (len(slide.features), 2):
        raise InputError(
            f"{path} has {len(slide.features)} rows of features, but positions of shape {positions.shape}; "
            "create both with the same run of the tool"
        )
    _check_positions(path, positions, bounds)
    return slide


def _check_positions(path: Path, positions: np.ndarray, bounds: tuple[float, float] | None) -> None:
    inside = np.isfinite(positions).all(axis=1) & (positions >= 0).all(axis=1)
    if bounds is not None:
        inside &= (positions < np.array(bounds)).all(axis=1)
    if not inside.all():
        row = int(np.argmin(inside))
        x, y = positions[row].tolist()
        size = "" if bounds is None else f" of {bounds[0]:g} × {bounds[1]:g} level-0 pixels"
        raise InputError(
            f"{path} has {int((~inside).sum())} positions outside the slide{size}, first ({x:g}, {y:g}) in row {row}; "
            "check that they belong to this slide and are in level-0 pixels"
        )


def read_positive_attribute(path: Path, attributes: dict[str, object], name: str) -> float | None:
    """Return an attribute that must be a positive number, or None if it is missing."""
    value = attributes.get(name)
    if value is None:
        return None
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 < value < 1e12:
        raise InputError(
            f"{path}: the attribute {name} must be a positive number, got {value!r}; run the tool again for this slide"
        )
    return float(value)


def hash_source_files(features: FeatureFolder, slide: str) -> list[str | None]:
    """Return the SHA-256 of each file from which a slide is read; None for a file that does not exist.

    The hashes decide whether a slide that was read earlier is still up to date.
    """
    return [None if file is None else hash_file(file) for file in list_source_files(features, slide)]


def list_source_files(features: FeatureFolder, slide: str) -> list[Path | None]:
    """List the files from which a slide is read; None for a file that does not exist."""
    return [next((path for path in paths if path.is_file()), None) for paths in features.sources(slide)]
