"""Feature folders written by slideflow: <slide>.pt (features), <slide>.index.npz (positions), and bags_config.json.

    upper left corner = centre − ⌊tile size / 2⌋        tile size in level-0 pixels = ⌊tile_um / mpp⌋

slideflow stores the centres of tiles in level-0 pixels and rounds down, as above. If the tile size is unknown (no mpp,
or ``tile_um`` is a magnification such as "20x"), no positions are returned, because centres that are used as corners
would shift the map by half a tile.
"""

import math
from pathlib import Path
from typing import Any

import numpy as np

from bagwise.data.formats.feature_folders import FeatureFolder, SlideFeatures, check_slide_features, list_stems
from bagwise.data.formats.tensors import read_tensor
from bagwise.errors import InputError
from bagwise.io import read_json, read_npz

CONFIG, INDEX = "bags_config.json", ".index.npz"
NO_RESOLUTION = (
    "no positions: slideflow stores the centres of tiles and their size in micrometres; pass the resolution of the "
    "slides, e.g. --mpp 0.25"
)
NO_SIZE = f"no positions: {CONFIG} does not give the tile size in micrometres (tile_um)"
NO_INDEX = f"no positions: <slide>{INDEX}, which stores them, does not exist"
TOLERANCE = 0.05  # share of a tile that may be outside the slide
MODEL_ARGUMENTS = ("model_name", "layers", "ckpt")  # arguments that distinguish extractors of the same class


class Slideflow(FeatureFolder):
    """A folder of .pt files with a bags_config.json."""

    tool = "slideflow"

    @classmethod
    def recognise(cls, folder: Path) -> str | None:
        if (folder / CONFIG).is_file():
            return f"it has {CONFIG}"
        indices = list_stems(folder, INDEX)
        return f"it has {indices[0]}{INDEX}" if indices else None

    def slides(self) -> list[str]:
        return list_stems(self.folder, ".pt")

    def sources(self, slide: str) -> list[list[Path]]:
        return [[self.folder / name] for name in (f"{slide}.pt", f"{slide}{INDEX}", CONFIG)]

    def read(self, slide: str) -> SlideFeatures:
        path, config = self.folder / f"{slide}.pt", self._read_config()
        found = SlideFeatures(read_tensor(path), extractor=_get_extractor(config))
        index = self.folder / f"{slide}{INDEX}"
        if not index.is_file():
            return check_slide_features(path, found._replace(note=NO_INDEX))
        centres = read_npz(index, "arr_0").astype(np.float64)
        check_slide_features(index, found._replace(positions=centres))
        tile_um = _get_tile_um(config)
        if tile_um is None or self.mpp is None:
            return check_slide_features(path, found._replace(note=NO_SIZE if tile_um is None else NO_RESOLUTION))
        size = math.floor(tile_um / self.mpp)
        corners = _compute_corners(index, centres, size, f"{tile_um:g} micrometres ({CONFIG}) at --mpp {self.mpp:g}")
        return check_slide_features(index, found._replace(positions=corners, tile_size=float(size)))

    def _read_config(self) -> dict[str, Any]:
        path = self.folder / CONFIG
        content = read_json(path) if path.is_file() else {}
        if not isinstance(content, dict):
            raise InputError(f"{path} must be a JSON object; restore it from a copy")
        return content


def _compute_corners(path: Path, centres: np.ndarray, size: int, description: str) -> np.ndarray:
    """Return the upper left corners, clipped to the slide; a rounded mpp may move them slightly outside."""
    corners = centres - size // 2
    if size < 1 or (corners < -TOLERANCE * size).any():
        raise InputError(
            f"{path}: a tile of {description} is {size} level-0 pixels wide, and some tiles would cross the edge of "
            "the slide; pass the resolution of the slides at level 0, e.g. --mpp 0.25"
        )
    return np.maximum(corners, 0)


def _get_tile_um(config: dict[str, Any]) -> float | None:
    size = config.get("tile_um")
    if not isinstance(size, int | float) or isinstance(size, bool) or not 0 < size < 1e9:
        return None
    return size


def _get_extractor(config: dict[str, Any]) -> str | None:
    """Return the class name of the extractor, and the arguments that select one of several models of a class.

    >>> _get_extractor({"extractor": {"class": "slideflow.model.extractors.retccl.RetCCLFeatures", "kwargs": {}}})
    'RetCCLFeatures'
    """
    extractor = config.get("extractor")
    name = extractor.get("class") if isinstance(extractor, dict) else extractor
    if not isinstance(name, str) or not name:
        return None
    arguments = extractor.get("kwargs") if isinstance(extractor, dict) else None
    if not isinstance(arguments, dict):
        arguments = {}
    model = [_format_argument(arguments[key]) for key in MODEL_ARGUMENTS if arguments.get(key)]
    return " ".join([name.rpartition(".")[2], *model])


def _format_argument(value: Any) -> str:
    """Format an argument; only the file name of a path is used, because folders differ between machines."""
    return ",".join(map(str, value)) if isinstance(value, list) else str(value).replace("\\", "/").rpartition("/")[2]
