"""Folders of features that were extracted with other tools: the interface of their readers, and shared checks."""

from abc import ABC, abstractmethod
from pathlib import Path
from typing import ClassVar, NamedTuple

import numpy as np

from bagwise.errors import InputError
from bagwise.io import hash_file


class SlideFeatures(NamedTuple):
    """The features of one slide; a field is None if the files of the tool do not contain it.

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
        Why positions or tile sizes are missing; empty if none are.
    """

    features: np.ndarray
    positions: np.ndarray | None = None
    tile_size: float | None = None
    extractor: str | None = None
    note: str = ""


class FeatureFolder(ABC):
    """A folder of feature files in the layout of one tool. Slides are read one at a time.

    Parameters
    ----------
    folder : Path
        The folder of feature files.
    mpp : float or None, default=None
        Micrometres per pixel at level 0, for tools that do not store it.
    patches : Path or None, default=None
        The folder of the files in which the tool stores the positions; None looks in the usual places.

    Attributes
    ----------
    tool : str
        The name of the tool, spelled as by its authors.
    """

    tool: ClassVar[str]

    def __init__(self, folder: Path, mpp: float | None = None, patches: Path | None = None) -> None:
        self.folder = folder
        self.mpp = mpp
        self.patches = patches

    @classmethod
    @abstractmethod
    def recognise(cls, folder: Path) -> str | None:
        """Return the reason why a folder seems to be written by this tool, or None if it does not."""

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
    """List the file names with a suffix, and remove the suffix; hidden files may be incomplete and are skipped."""
    found = (file.name for file in folder.iterdir() if file.name.endswith(suffix) and file.is_file())
    return sorted(name.removesuffix(suffix) for name in found if not name.startswith("."))


def check_slide_features(path: Path, slide: SlideFeatures, bounds: tuple[float, float] | None = None) -> SlideFeatures:
    """Check that features and positions match, and that positions are inside the slide; return the slide."""
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

    The hashes show whether a slide that was read earlier is still up to date.
    """
    return [None if file is None else hash_file(file) for file in list_source_files(features, slide)]


def list_source_files(features: FeatureFolder, slide: str) -> list[Path | None]:
    """List the files from which a slide is read; None for a file that does not exist."""
    return [next((path for path in paths if path.is_file()), None) for paths in features.sources(slide)]
