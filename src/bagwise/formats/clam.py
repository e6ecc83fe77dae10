"""CLAM's feature folders: h5_files/<slide>.h5 and pt_files/<slide>.pt, with patches/<slide>.h5 beside them.

    tile size in level-0 pixels = patch_size · downsample        (both of patches/<slide>.h5)

`coords` are upper left corners in level-0 pixels. CLAM does not record the extractor.
"""

from pathlib import Path
from typing import Any

import numpy as np

from bagwise.errors import InputError
from bagwise.formats.contract import FeatureFolder, Slide, checked, positive, stems
from bagwise.formats.h5 import H5, open_h5
from bagwise.formats.tensors import read_tensor

SUBFOLDERS = {"h5_files": ".h5", "pt_files": ".pt"}
NOTE = "no tile sizes, nor positions of .pt files: they are in patches/<slide>.h5; say where with --patches FOLDER"


class Clam(FeatureFolder):
    """A folder with h5_files and pt_files, or one of the two; h5 is preferred, because it has the positions."""

    tool = "CLAM"

    @classmethod
    def recognise(cls, folder: Path) -> str | None:
        found = [name for name in SUBFOLDERS if (folder / name).is_dir()]
        if found:
            return f"it has the folder {' and '.join(found)}"
        return f"it is named {folder.name}" if folder.resolve().name in SUBFOLDERS else None

    def slides(self) -> list[str]:
        return sorted({slide for folder, suffix in self._places() for slide in stems(folder, suffix)})

    def read(self, slide: str) -> Slide:
        tile_size, bounds, positions = self._patches(slide)
        for folder, suffix in self._places():
            path = folder / f"{slide}{suffix}"
            if path.is_file():
                found = self._features(path) if suffix == ".h5" else Slide(read_tensor(path), positions)
                note = NOTE if tile_size is None else ""
                return checked(path, found._replace(tile_size=tile_size, note=note), bounds)
        raise InputError(f"{self.folder} has no features of slide '{slide}'")

    def sources(self, slide: str) -> list[list[Path]]:
        return [self._patch_files(slide), [folder / f"{slide}{suffix}" for folder, suffix in self._places()]]

    def _places(self) -> list[tuple[Path, str]]:
        inside = [(self.folder / name, suffix) for name, suffix in SUBFOLDERS.items()]
        if any(folder.is_dir() for folder, _ in inside):
            return [(folder, suffix) for folder, suffix in inside if folder.is_dir()]
        return [(self.folder, suffix) for suffix in SUBFOLDERS.values()]

    def _features(self, path: Path) -> Slide:
        with open_h5(path) as file:
            return Slide(file.rows("features"), file.rows("coords") if "coords" in file else None)

    def _patches(self, slide: str) -> tuple[float | None, tuple[float, float] | None, np.ndarray | None]:
        """Tile size, the slide's bounds and the positions, of the file that CLAM's first step wrote."""
        for path in self._patch_files(slide):
            if path.is_file():
                with open_h5(path) as file:
                    return _told(path, file)
        return None, None, None

    def _patch_files(self, slide: str) -> list[Path]:
        place = self.folder.resolve()  # one that is given by half a path has its parents too
        usual = [folder / "patches" for folder in (place, place.parent, place.parent.parent)]
        return [folder / f"{slide}.h5" for folder in (usual if self.patches is None else [self.patches])]


def _told(path: Path, file: H5) -> tuple[float | None, tuple[float, float] | None, np.ndarray]:
    attributes = file.attributes("coords", "patch_size", "downsample", "level_dim")
    size, (across, down) = positive(path, attributes, "patch_size"), _pair(path, attributes, "downsample") or (1, 1)
    if abs(across - down) > 0.01 * across:
        raise InputError(f"{path}: downsample is {across:g} across and {down:g} down; tiles must be square")
    level = _pair(path, attributes, "level_dim")
    # a level's size is rounded down, hence one more of its pixels
    bounds = None if level is None else ((level[0] + 1) * across, (level[1] + 1) * down)
    return None if size is None else size * (across + down) / 2, bounds, file.rows("coords")


def _pair(path: Path, attributes: dict[str, Any], name: str) -> tuple[float, float] | None:
    """An attribute with a number for x and one for y, or one for both."""
    value = attributes.get(name)
    if value is None:
        return None
    values = value if isinstance(value, list) else [value, value]
    numbers = [positive(path, {name: each}, name) for each in values]
    if len(numbers) != 2 or None in numbers:
        raise InputError(f"{path}: the attribute {name} is {value!r}; expected one or two positive numbers")
    return numbers[0] or 1.0, numbers[1] or 1.0
