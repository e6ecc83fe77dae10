"""slideflow's bags: <slide>.pt with features, <slide>.index.npz with positions, bags_config.json about all of them.

    upper left corner = centre − tile size / 2        tile size in level-0 pixels = tile_um / mpp

The positions are the centres of tiles in level-0 pixels. Where the tile size cannot be known (no mpp, or `tile_um` is
a magnification such as "20x") there are no positions: a shift of half a tile would go unseen.
"""

from pathlib import Path
from typing import Any

import numpy as np

from bagwise.errors import InputError
from bagwise.files import read_json
from bagwise.formats.contract import FeatureFolder, Slide, checked, stems
from bagwise.formats.numpy_files import read_npz
from bagwise.formats.tensors import read_tensor

CONFIG, INDEX = "bags_config.json", ".index.npz"
NOTE = "no positions: slideflow keeps centres of tiles of a size in micrometres; give the slides' resolution with --mpp"


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

    def read(self, slide: str) -> Slide:
        path, config = self.folder / f"{slide}.pt", self._config()
        tile_size = self._tile_size(config)
        features, extractor = read_tensor(path), _extractor(config)
        index = self.folder / f"{slide}{INDEX}"
        if not index.is_file() or tile_size is None:
            return checked(path, Slide(features, extractor=extractor, note=NOTE))
        centres = read_npz(index, "arr_0").astype(np.float64)
        checked(index, Slide(features, centres))
        corners = np.maximum(centres - tile_size / 2, 0)  # at the edge, centres are rounded
        return checked(index, Slide(features, corners, tile_size, extractor))

    def _config(self) -> dict[str, Any]:
        path = self.folder / CONFIG
        content = read_json(path) if path.is_file() else {}
        if not isinstance(content, dict):
            raise InputError(f"{path} must hold a JSON object; restore it")
        return content

    def _tile_size(self, config: dict[str, Any]) -> float | None:
        size = config.get("tile_um")
        if self.mpp is None or not isinstance(size, int | float) or isinstance(size, bool) or not 0 < size < 1e9:
            return None
        return size / self.mpp


def _extractor(config: dict[str, Any]) -> str | None:
    """The last part of the extractor's class: slideflow.model.extractors.retccl.RetCCLFeatures → RetCCLFeatures."""
    extractor = config.get("extractor")
    name = extractor.get("class") if isinstance(extractor, dict) else extractor
    return name.rpartition(".")[2] if isinstance(name, str) and name else None
