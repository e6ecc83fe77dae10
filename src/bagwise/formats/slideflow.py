"""slideflow's bags: <slide>.pt with features, <slide>.index.npz with positions, bags_config.json about all of them.

    upper left corner = centre − ⌊tile size / 2⌋        tile size in level-0 pixels = ⌊tile_um / mpp⌋

The positions are the centres of tiles in level-0 pixels, rounded down as slideflow rounds them. Where the tile size
cannot be known (no mpp, or `tile_um` is a magnification such as "20x") there are no positions: a shift of half a tile
would go unseen.
"""

import math
from pathlib import Path
from typing import Any

import numpy as np

from bagwise.errors import InputError
from bagwise.files import read_json
from bagwise.formats.contract import FeatureFolder, Slide, checked, stems
from bagwise.formats.numpy_files import read_npz
from bagwise.formats.tensors import read_tensor

CONFIG, INDEX = "bags_config.json", ".index.npz"
NO_RESOLUTION = (
    "no positions: slideflow keeps the centres of tiles whose size is in micrometres; give the slides' resolution with "
    "--mpp, e.g. --mpp 0.25"
)
NO_SIZE = f"no positions: {CONFIG} does not tell the size of tiles in micrometres (tile_um)"
NO_INDEX = f"no positions: they are in <slide>{INDEX}, which is not there"
SLACK = 0.05  # of a tile
CHOICES = ("model_name", "layers", "ckpt")  # what tells two extractors of one class apart


class Slideflow(FeatureFolder):
    """A folder of .pt files beside bags_config.json."""

    tool = "slideflow"

    @classmethod
    def recognise(cls, folder: Path) -> str | None:
        if (folder / CONFIG).is_file():
            return f"it has {CONFIG}"
        indices = stems(folder, INDEX)
        return f"it has {indices[0]}{INDEX}" if indices else None

    def slides(self) -> list[str]:
        return stems(self.folder, ".pt")

    def sources(self, slide: str) -> list[list[Path]]:
        return [[self.folder / name] for name in (f"{slide}.pt", f"{slide}{INDEX}", CONFIG)]

    def read(self, slide: str) -> Slide:
        path, config = self.folder / f"{slide}.pt", self._config()
        found = Slide(read_tensor(path), extractor=_extractor(config))
        index = self.folder / f"{slide}{INDEX}"
        if not index.is_file():
            return checked(path, found._replace(note=NO_INDEX))
        centres = read_npz(index, "arr_0").astype(np.float64)
        checked(index, found._replace(positions=centres))
        tile_um = _tile_um(config)
        if tile_um is None or self.mpp is None:
            return checked(path, found._replace(note=NO_SIZE if tile_um is None else NO_RESOLUTION))
        size = math.floor(tile_um / self.mpp)
        corners = _corners(index, centres, size, f"{tile_um:g} micrometres ({CONFIG}) at --mpp {self.mpp:g}")
        return checked(index, found._replace(positions=corners, tile_size=float(size)))

    def _config(self) -> dict[str, Any]:
        path = self.folder / CONFIG
        content = read_json(path) if path.is_file() else {}
        if not isinstance(content, dict):
            raise InputError(f"{path} must hold a JSON object; restore it")
        return content


def _corners(path: Path, centres: np.ndarray, size: int, because: str) -> np.ndarray:
    """Upper left corners; a resolution typed with few digits may push them a little over the edge, not more."""
    corners = centres - size // 2
    if size < 1 or (corners < -SLACK * size).any():
        raise InputError(
            f"{path}: a tile of {because} is {size} level-0 pixels wide, and some reach over the slide's edge; "
            "give the resolution of the slides themselves"
        )
    return np.maximum(corners, 0)


def _tile_um(config: dict[str, Any]) -> float | None:
    size = config.get("tile_um")
    if not isinstance(size, int | float) or isinstance(size, bool) or not 0 < size < 1e9:
        return None
    return size


def _extractor(config: dict[str, Any]) -> str | None:
    """The last part of the extractor's class, and what else chooses the model, where one class serves several.

    >>> _extractor({"extractor": {"class": "slideflow.model.extractors.retccl.RetCCLFeatures", "kwargs": {}}})
    'RetCCLFeatures'
    """
    extractor = config.get("extractor")
    name = extractor.get("class") if isinstance(extractor, dict) else extractor
    if not isinstance(name, str) or not name:
        return None
    given = extractor.get("kwargs") if isinstance(extractor, dict) else None
    chosen = [_told(given[choice]) for choice in CHOICES if given.get(choice)] if isinstance(given, dict) else []
    return " ".join([name.rpartition(".")[2], *chosen])


def _told(value: Any) -> str:
    """A choice as a word; of a path the last part, since folders differ between machines."""
    return ",".join(map(str, value)) if isinstance(value, list) else str(value).replace("\\", "/").rpartition("/")[2]
