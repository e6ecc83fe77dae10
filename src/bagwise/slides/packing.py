"""The feature files of all slides → one folder of bags."""

from pathlib import Path
from typing import Any

import numpy as np

from bagwise.errors import InputError
from bagwise.slides.extraction import feature_file
from bagwise.slides.labels import Labelled
from bagwise.slides.promised import Encodes
from bagwise.slides.regions import regions
from bagwise.slides.tile_files import check_target, list_tiles
from bagwise.writing import BagWriter


def pack(
    tiles: str | Path,
    folder: str | Path,
    extractor: Encodes | None,
    labels: dict[str, Labelled] | None = None,
    leave_out: tuple[str, ...] = (),
    side: int | None = None,
) -> int:
    """Write the slides' features as one folder of bags; returns how many. With labels, only what is labelled.

    side : of the regions that become bags instead of whole slides, in level-0 pixels
    """
    check_target(Path(folder))
    slides = [entry for entry in list_tiles(tiles) if entry.name not in leave_out]
    bags = [(entry, region) for entry in slides if len(entry.positions) for region in regions(entry, side)]
    if labels is not None:
        bags = [(entry, region) for entry, region in bags if region.name in labels]
    if not bags:
        raise InputError(f"{tiles}: no slide is left to pack; check the tiles, and the slide_id column of the labels")
    apart = side is not None and len({entry.name for entry, _ in bags}) > 1
    blank = [entry.name for entry in slides if not len(entry.positions)]
    with BagWriter(folder, None if extractor is None else extractor.name) as writer:
        writer.empty = [name for name in blank if labels is None or name in labels]
        for entry, (name, rows) in bags:
            features = _open(feature_file(entry, extractor), len(entry.positions))
            facts = _facts(None if labels is None else labels[name], entry.name if apart else None)
            writer.add(features[rows], positions=entry.positions[rows], name=name, tile_size=entry.extent, **facts)
    return len(bags)


def _open(path: Path, rows: int) -> np.ndarray:
    if not path.exists():
        raise InputError(f"{path} is missing; run bagwise extract again")
    try:
        features = np.lib.format.open_memmap(path, mode="r")
    except Exception as error:  # NumPy reads the header as Python: its errors are those of a parser
        raise InputError(f"{path} is damaged ({error}); remove it and run bagwise extract again") from None
    if len(features) != rows:
        raise InputError(f"{path} has {len(features)} rows for {rows} tiles; remove it and run bagwise extract again")
    return features


def _facts(known: Labelled | None, slide: str | None) -> dict[str, Any]:
    """Label and group; regions of one slide of several are kept together if nothing else is said."""
    group = slide if known is None or known.group is None else known.group
    facts = {"label": None if known is None else known.label, "group": group}
    return {title: value for title, value in facts.items() if value is not None}
