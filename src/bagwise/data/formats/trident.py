"""Feature folders written by TRIDENT: features_<encoder>/<slide>.h5, with patches/<slide>_patches.h5 beside them.

``coords`` are upper left corners in level-0 pixels. Their attribute ``patch_size_level0`` is the tile size in level-0
pixels; ``patch_size`` is the size at the magnification of the encoder's input.
"""

from pathlib import Path

from bagwise.data.formats.feature_folders import (
    FeatureFolder,
    SlideFeatures,
    check_slide_features,
    list_stems,
    read_positive_attribute,
)
from bagwise.data.formats.h5 import H5, open_h5
from bagwise.errors import InputError

PREFIX = "features_"
SIDES = ("level0_width", "level0_height")
ATTRIBUTES = ("patch_size_level0", *SIDES)
NO_PATCHES = "no tile sizes: they are stored in patches/<slide>_patches.h5; pass that folder with --patches FOLDER"


class Trident(FeatureFolder):
    """A folder features_<encoder>, or the folder of one magnification that contains a single such folder."""

    tool = "TRIDENT"

    @classmethod
    def recognise(cls, folder: Path) -> str | None:
        if folder.resolve().name.startswith(PREFIX):
            return f"it is named {folder.resolve().name}"
        inside = [file.name for file in folder.iterdir() if file.is_dir() and file.name.startswith(PREFIX)]
        return f"it has the folder {', '.join(sorted(inside))}" if inside else _recognise_files(folder)

    def slides(self) -> list[str]:
        return list_stems(self._find_features(), ".h5")

    def read(self, slide: str) -> SlideFeatures:
        path = self._find_features() / f"{slide}.h5"
        with open_h5(path) as file:
            features, positions = file.rows("features"), file.rows("coords") if "coords" in file else None
            extractor = file.attributes("features", "encoder").get("encoder")
            attributes = _read_attributes(path, file) if positions is not None else {}
        attributes = {**self._read_patches(slide), **attributes}
        tile_size = attributes.get("patch_size_level0")
        slide_features = SlideFeatures(
            features=features,
            positions=positions,
            tile_size=tile_size,
            extractor=str(extractor or self._find_features().resolve().name.removeprefix(PREFIX)),
            note=NO_PATCHES if tile_size is None else "",
        )
        width, height = (attributes.get(side) for side in SIDES)
        bounds = None if width is None or height is None else (width, height)
        return check_slide_features(path, slide_features, bounds)

    def sources(self, slide: str) -> list[list[Path]]:
        return [[self._find_features() / f"{slide}.h5"], [self._patch_file(slide)]]

    def _find_features(self) -> Path:
        inside = sorted(file for file in self.folder.iterdir() if file.is_dir() and file.name.startswith(PREFIX))
        if len(inside) > 1:
            names = ", ".join(file.name for file in inside)
            raise InputError(
                f"{self.folder} has features of several encoders ({names}); pass one of these folders, e.g. {inside[0]}"
            )
        return inside[0] if inside else self.folder

    def _read_patches(self, slide: str) -> dict[str, float]:
        """Return the attributes in the patch file of a slide, or none if the file does not exist."""
        path = self._patch_file(slide)
        if not path.is_file():
            return {}
        with open_h5(path) as file:
            return _read_attributes(path, file)

    def _patch_file(self, slide: str) -> Path:
        return (self.patches or self._find_features().parent / "patches") / f"{slide}_patches.h5"


def _read_attributes(path: Path, file: H5) -> dict[str, float]:
    """Return the tile size and the size of the slide, from the attributes of ``coords``."""
    found = file.attributes("coords", *ATTRIBUTES)
    return {name: value for name in found if (value := read_positive_attribute(path, found, name)) is not None}


def _recognise_files(folder: Path) -> str | None:
    for slide in list_stems(folder, ".h5")[:5]:
        try:
            with open_h5(folder / f"{slide}.h5") as file:
                if "features" in file and file.attributes("features", "encoder"):
                    return f"the features of {slide}.h5 have the attribute encoder"
        except InputError:  # a bad slide is reported when it is read; another file may identify the tool
            continue
    return None
