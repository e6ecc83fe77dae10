"""TRIDENT's feature folders: features_<encoder>/<slide>.h5, with patches/<slide>_patches.h5 beside them.

`coords` are upper left corners in level-0 pixels; their attribute `patch_size_level0` is the tile size there, and
`patch_size` is not: it is the size at the magnification that the encoder saw.
"""

from pathlib import Path

from bagwise.errors import InputError
from bagwise.formats.contract import FeatureFolder, Slide, checked, positive, stems
from bagwise.formats.h5 import H5, open_h5

PREFIX = "features_"
SIDES = ("level0_width", "level0_height")
TOLD = ("patch_size_level0", *SIDES)
NOTE = "no tile sizes: they are in patches/<slide>_patches.h5; say where with --patches FOLDER"


class Trident(FeatureFolder):
    """A folder features_<encoder>, or the folder of one magnification that holds a single such folder."""

    tool = "TRIDENT"

    @classmethod
    def recognise(cls, folder: Path) -> str | None:
        if folder.resolve().name.startswith(PREFIX):
            return f"it is named {folder.resolve().name}"
        inside = [file.name for file in folder.iterdir() if file.is_dir() and file.name.startswith(PREFIX)]
        return f"it has the folder {', '.join(sorted(inside))}" if inside else _told_by_files(folder)

    def slides(self) -> list[str]:
        return stems(self._features(), ".h5")

    def read(self, slide: str) -> Slide:
        path = self._features() / f"{slide}.h5"
        with open_h5(path) as file:
            features, positions = file.rows("features"), file.rows("coords") if "coords" in file else None
            extractor = file.attributes("features", "encoder").get("encoder")
            told = _told(path, file) if positions is not None else {}
        told = {**self._patches(slide), **told}
        tile_size = told.get("patch_size_level0")
        extractor = str(extractor or self._features().resolve().name.removeprefix(PREFIX))
        note = NOTE if tile_size is None else ""
        width, height = (told.get(side) for side in SIDES)
        bounds = None if width is None or height is None else (width, height)
        return checked(path, Slide(features, positions, tile_size, extractor, note), bounds)

    def sources(self, slide: str) -> list[list[Path]]:
        return [[self._features() / f"{slide}.h5"], [self._patch_file(slide)]]

    def _features(self) -> Path:
        inside = sorted(file for file in self.folder.iterdir() if file.is_dir() and file.name.startswith(PREFIX))
        if len(inside) > 1:
            names = ", ".join(file.name for file in inside)
            raise InputError(f"{self.folder} has features of several encoders ({names}); give one of these folders")
        return inside[0] if inside else self.folder

    def _patches(self, slide: str) -> dict[str, float]:
        """What TRIDENT's first step wrote of the positions, where that file is."""
        path = self._patch_file(slide)
        if not path.is_file():
            return {}
        with open_h5(path) as file:
            return _told(path, file)

    def _patch_file(self, slide: str) -> Path:
        return (self.patches or self._features().parent / "patches") / f"{slide}_patches.h5"


def _told(path: Path, file: H5) -> dict[str, float]:
    """What a file's attributes say of its positions."""
    found = file.attributes("coords", *TOLD)
    return {name: value for name in found if (value := positive(path, found, name)) is not None}


def _told_by_files(folder: Path) -> str | None:
    for slide in stems(folder, ".h5")[:5]:
        try:
            with open_h5(folder / f"{slide}.h5") as file:
                if "features" in file and file.attributes("features", "encoder"):
                    return f"the features of {slide}.h5 have the attribute encoder"
        except InputError:  # a bad slide is told when it is read; another one may tell the tool
            continue
    return None
