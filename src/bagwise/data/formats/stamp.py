"""Feature folders written by STAMP: <slide>.h5 with ``feats`` and ``coords`` in micrometres, in the slides' subfolders.

    position in level-0 pixels = coords / mpp        tile size in level-0 pixels = tile_size_um / mpp

The files do not contain the resolution of the slide, mpp (tile_size_um / tile_size_px is the resolution of the tiles).
If it is not given, no positions are returned, because micrometres must not be mistaken for pixels.
"""

import functools
import itertools
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from bagwise.data.formats.feature_folders import (
    FeatureFolder,
    SlideFeatures,
    check_slide_features,
    read_positive_attribute,
)
from bagwise.data.formats.h5 import open_h5
from bagwise.errors import InputError

SIZES = ("tile_size_um", "tile_size")  # tile_size before version 2.1, also in micrometres
ATTRIBUTES = ("unit", *SIZES, "extractor", "feat_type")
MICROMETRES = {"um", "µm", "μm"}
NO_RESOLUTION = "no positions: STAMP stores them in micrometres; pass the resolution of the slides, e.g. --mpp 0.25"
NO_UNIT = "no positions: the files do not state the unit of their coordinates"


class Stamp(FeatureFolder):
    """A folder of h5 files with ``feats``."""

    tool = "STAMP"

    @classmethod
    def recognise(cls, folder: Path) -> str | None:
        for path in itertools.islice(_iterate_files(folder), 5):
            try:
                with open_h5(path) as file:
                    if "feats" in file:
                        return f"{path.name} has the data set feats"
            except InputError:  # a bad slide is reported when it is read; another file may identify the tool
                continue
        return None

    def slides(self) -> list[str]:
        return sorted(self._paths)

    def sources(self, slide: str) -> list[list[Path]]:
        return [[self._get_path(slide)]]

    def read(self, slide: str) -> SlideFeatures:
        path = self._get_path(slide)
        with open_h5(path) as file:
            attributes, features = file.attributes("", *ATTRIBUTES), file.rows("feats")
            coords = file.rows("coords") if "coords" in file else None
        if attributes.get("feat_type", "tile") != "tile":
            raise InputError(
                f"{path} contains features of a {attributes['feat_type']}, not of tiles; pass the folder of STAMP's "
                "tile features"
            )
        extractor = None if attributes.get("extractor") is None else str(attributes["extractor"])
        if coords is None or "unit" not in attributes:
            return check_slide_features(path, SlideFeatures(features, extractor=extractor, note=NO_UNIT))
        if attributes["unit"] not in MICROMETRES:
            raise InputError(
                f"{path}: the unit of positions must be micrometres ('um'), got {attributes['unit']!r}; extract the "
                "features again with STAMP"
            )
        check_slide_features(path, SlideFeatures(features, coords))
        if self.mpp is None:
            return check_slide_features(path, SlideFeatures(features, extractor=extractor, note=NO_RESOLUTION))
        sizes = [size for name in SIZES if (size := read_positive_attribute(path, attributes, name)) is not None]
        slide_features = SlideFeatures(
            features=features,
            positions=coords.astype(np.float64) / self.mpp,
            tile_size=sizes[0] / self.mpp if sizes else None,
            extractor=extractor,
        )
        return check_slide_features(path, slide_features)

    @functools.cached_property
    def _paths(self) -> dict[str, Path]:
        """File of each slide, by the name of the slide."""
        paths: dict[str, Path] = {}
        for path in _iterate_files(self.folder):
            if paths.setdefault(path.stem, path) != path:
                raise InputError(f"{paths[path.stem]} and {path} have the same slide name; rename or move one of them")
        return paths

    def _get_path(self, slide: str) -> Path:
        return self._paths.get(slide, self.folder / f"{slide}.h5")


def _iterate_files(folder: Path) -> Iterator[Path]:
    """Iterate over the h5 files of a folder and its subfolders; hidden files may be incomplete and are skipped."""
    return (path for path in folder.rglob("*.h5") if path.is_file() and not path.name.startswith("."))
