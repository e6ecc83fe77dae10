"""Feature folders written by CLAM: h5_files/<slide>.h5 and pt_files/<slide>.pt, with patches/<slide>.h5 beside them.

    tile size in level-0 pixels = patch_size · downsample        (both attributes of patches/<slide>.h5)

``coords`` are upper left corners in level-0 pixels. CLAM does not record the extractor.
"""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bagwise.data.formats.feature_folders import (
    FeatureFolder,
    SlideFeatures,
    check_slide_features,
    list_stems,
    read_positive_attribute,
)
from bagwise.data.formats.h5 import H5, open_h5
from bagwise.data.formats.tensors import read_tensor
from bagwise.errors import InputError

SUBFOLDERS = {"h5_files": ".h5", "pt_files": ".pt"}
NO_PATCHES = (
    "no tile sizes, and no positions for .pt files: they are stored in patches/<slide>.h5; "
    "pass that folder with --patches FOLDER"
)


class _Patches(NamedTuple):
    """The contents of the file that CLAM's patching step writes; None if the file or the attribute does not exist."""

    tile_size: float | None = None
    bounds: tuple[float, float] | None = None
    positions: np.ndarray | None = None


class Clam(FeatureFolder):
    """A folder with h5_files, pt_files or both; h5 files are preferred, because they contain the positions."""

    tool = "CLAM"

    @classmethod
    def recognise(cls, folder: Path) -> str | None:
        found = [name for name in SUBFOLDERS if (folder / name).is_dir()]
        if found:
            return f"it has the folder {' and '.join(found)}"
        return f"it is named {folder.name}" if folder.resolve().name in SUBFOLDERS else None

    def slides(self) -> list[str]:
        return sorted({slide for folder, suffix in self._locations() for slide in list_stems(folder, suffix)})

    def read(self, slide: str) -> SlideFeatures:
        patches = self._read_patches(slide)
        for folder, suffix in self._locations():
            path = folder / f"{slide}{suffix}"
            if path.is_file():
                is_h5 = suffix == ".h5"
                found = _read_h5(path) if is_h5 else SlideFeatures(read_tensor(path), patches.positions)
                note = NO_PATCHES if patches.tile_size is None else ""
                return check_slide_features(
                    path, found._replace(tile_size=patches.tile_size, note=note), patches.bounds
                )
        raise InputError(f"{self.folder} has no features of slide '{slide}'; extract them with CLAM")

    def sources(self, slide: str) -> list[list[Path]]:
        return [self._patch_files(slide), [folder / f"{slide}{suffix}" for folder, suffix in self._locations()]]

    def _locations(self) -> list[tuple[Path, str]]:
        """Return the folders with feature files, and the suffix of the files in each."""
        inside = [(self.folder / name, suffix) for name, suffix in SUBFOLDERS.items()]
        if any(folder.is_dir() for folder, _ in inside):
            return [(folder, suffix) for folder, suffix in inside if folder.is_dir()]
        return [(self.folder, suffix) for suffix in SUBFOLDERS.values()]

    def _read_patches(self, slide: str) -> _Patches:
        for path in self._patch_files(slide):
            if path.is_file():
                with open_h5(path) as file:
                    return _parse_patches(path, file)
        return _Patches()

    def _patch_files(self, slide: str) -> list[Path]:
        here = self.folder.resolve()  # a relative path such as "." has no parents
        usual = [folder / "patches" for folder in (here, here.parent, here.parent.parent)]
        return [folder / f"{slide}.h5" for folder in (usual if self.patches is None else [self.patches])]


def _read_h5(path: Path) -> SlideFeatures:
    with open_h5(path) as file:
        return SlideFeatures(file.rows("features"), file.rows("coords") if "coords" in file else None)


def _parse_patches(path: Path, file: H5) -> _Patches:
    attributes = file.attributes("coords", "patch_size", "downsample", "level_dim")
    size = read_positive_attribute(path, attributes, "patch_size")
    across, down = _read_pair(path, attributes, "downsample") or (1, 1)
    if abs(across - down) > 0.01 * across:
        raise InputError(
            f"{path}: the attribute downsample of coords is {across:g} horizontally and {down:g} vertically; "
            "tiles must be square: run CLAM's patching step again"
        )
    level = _read_pair(path, attributes, "level_dim")
    # the size of a level is rounded down, so one pixel of that level is added
    bounds = None if level is None else ((level[0] + 1) * across, (level[1] + 1) * down)
    return _Patches(
        tile_size=None if size is None else size * (across + down) / 2, bounds=bounds, positions=file.rows("coords")
    )


def _read_pair(path: Path, attributes: dict[str, Any], name: str) -> tuple[float, float] | None:
    """Return an attribute that has one number for x and one for y, or one number for both."""
    value = attributes.get(name)
    if value is None:
        return None
    values = value if isinstance(value, list) else [value, value]
    numbers = [read_positive_attribute(path, {name: number}, name) for number in values]
    if len(numbers) != 2 or None in numbers:
        raise InputError(
            f"{path}: the attribute {name} of coords must be one or two positive numbers, got {value!r}; "
            "run CLAM's patching step again"
        )
    return numbers[0] or 1.0, numbers[1] or 1.0
