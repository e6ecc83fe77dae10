"""STAMP's feature folders: <slide>.h5 with `feats`, and `coords` in micrometres, in folders as the slides were.

    position in level-0 pixels = coords / mpp        tile size in level-0 pixels = tile_size_um / mpp

The files do not tell the slide's resolution, mpp (tile_size_um / tile_size_px is that of the tiles). Without it there
are no positions: micrometres that pass for pixels are worse than none.
"""

import functools
import itertools
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from bagwise.errors import InputError
from bagwise.formats.contract import FeatureFolder, Slide, checked, positive
from bagwise.formats.h5 import open_h5

SIZES = ("tile_size_um", "tile_size")  # the second before version 2.1, in micrometres too
TOLD = ("unit", *SIZES, "extractor", "feat_type")
MICROMETRES = {"um", "µm", "μm"}
NO_RESOLUTION = "no positions: STAMP keeps them in micrometres; give the slides' resolution with --mpp, e.g. --mpp 0.25"
NO_UNIT = "no positions: the files do not say in which unit they are"


class Stamp(FeatureFolder):
    """A folder of h5 files with `feats`."""

    tool = "STAMP"

    @classmethod
    def recognise(cls, folder: Path) -> str | None:
        for path in itertools.islice(_files(folder), 5):
            try:
                with open_h5(path) as file:
                    if "feats" in file:
                        return f"{path.name} has the data set feats"
            except InputError:  # a bad slide is told when it is read; another one may tell the tool
                continue
        return None

    def slides(self) -> list[str]:
        return sorted(self._paths)

    @functools.cached_property
    def _paths(self) -> dict[str, Path]:
        paths: dict[str, Path] = {}
        for path in _files(self.folder):
            if paths.setdefault(path.stem, path) != path:
                raise InputError(f"{paths[path.stem]} and {path} are of slides of one name; rename or move one")
        return paths

    def sources(self, slide: str) -> list[list[Path]]:
        return [[self._path(slide)]]

    def _path(self, slide: str) -> Path:
        return self._paths.get(slide, self.folder / f"{slide}.h5")

    def read(self, slide: str) -> Slide:
        path = self._path(slide)
        with open_h5(path) as file:
            told, features = file.attributes("", *TOLD), file.rows("feats")
            coords = file.rows("coords") if "coords" in file else None
        if told.get("feat_type", "tile") != "tile":
            raise InputError(
                f"{path} holds features of a {told['feat_type']}, not of tiles; give STAMP's tile features"
            )
        extractor = None if told.get("extractor") is None else str(told["extractor"])
        if coords is None or "unit" not in told:
            return checked(path, Slide(features, extractor=extractor, note=NO_UNIT))
        if told["unit"] not in MICROMETRES:
            raise InputError(f"{path} has positions in {told['unit']!r}; STAMP's are in micrometres ('um')")
        checked(path, Slide(features, coords))
        if self.mpp is None:
            return checked(path, Slide(features, extractor=extractor, note=NO_RESOLUTION))
        sizes = [size for name in SIZES if (size := positive(path, told, name)) is not None]
        tile_size = sizes[0] / self.mpp if sizes else None
        return checked(path, Slide(features, coords.astype(np.float64) / self.mpp, tile_size, extractor))


def _files(folder: Path) -> Iterator[Path]:
    """The h5 files of a folder and those below it; hidden files are drafts of others."""
    return (path for path in folder.rglob("*.h5") if path.is_file() and not path.name.startswith("."))
