"""The feature files of all slides → one folder of bags."""

from pathlib import Path
from typing import Any

import numpy as np

from bagwise.errors import InputError
from bagwise.slides.extraction import Encodes, feature_file
from bagwise.slides.labels import Labelled
from bagwise.slides.tile_files import check_target, list_tiles
from bagwise.writing import BagWriter


def pack(
    tiles: str | Path,
    folder: str | Path,
    extractor: Encodes | None,
    labels: dict[str, Labelled] | None = None,
    leave_out: tuple[str, ...] = (),
) -> int:
    """Write the slides' features as one folder of bags; returns how many. With labels, only labelled slides."""
    check_target(Path(folder))
    chosen = [entry for entry in list_tiles(tiles) if len(entry.positions) and entry.name not in leave_out]
    if labels is not None:
        chosen = [entry for entry in chosen if entry.name in labels]
    if not chosen:
        raise InputError(f"{tiles}: no slide is left to pack; check the tiles, and the slide_id column of the labels")
    with BagWriter(folder, None if extractor is None else extractor.name) as writer:
        for entry in chosen:
            facts = {} if labels is None else _facts(labels[entry.name])
            features = _open(feature_file(entry, extractor), len(entry.positions))
            writer.add(features, positions=entry.positions, name=entry.name, tile_size=entry.extent, **facts)
    return len(chosen)


def _open(path: Path, rows: int) -> np.ndarray:
    if not path.exists():
        raise InputError(f"{path} is missing; run bagwise extract again")
    try:
        features = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError, OSError) as error:
        raise InputError(f"{path} is damaged ({error}); remove it and run bagwise extract again") from None
    if len(features) != rows:
        raise InputError(f"{path} has {len(features)} rows for {rows} tiles; remove it and run bagwise extract again")
    return features


def _facts(entry: Labelled) -> dict[str, Any]:
    return {"label": entry.label} | ({} if entry.group is None else {"group": entry.group})
