"""Tiles → features: one atomic file a slide, in a folder that any number of processes share.

    tiles/features-NAME/SLIDE.FINGERPRINT.npy     (tiles, features) float16, or (tiles, size, size, 3) bytes of pixels
    tiles/features-NAME/SLIDE.claim               who works on a slide, while it is worked on

The fingerprint is that of the tiles: a slide that was tiled anew gets new features.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np

from bagwise.errors import InputError
from bagwise.files import check_room
from bagwise.slides.packages import PIXELS
from bagwise.slides.promised import Encodes, Promised
from bagwise.slides.slide import Slide
from bagwise.slides.tile_files import TileFile, list_tiles
from bagwise.working.cluster import Cluster
from bagwise.working.units import Unit, check_seen, share
from bagwise.writing import write_header

Watch = Callable[[str, int, int], None]  # a slide's name, its tiles done, all of its tiles


class Extraction(NamedTuple):
    """What became of each slide."""

    done: list[str]
    skipped: list[str]  # done before
    empty: list[str]  # without tiles
    elsewhere: dict[str, str]  # in the hands of another process, and whose
    bad: dict[str, str]  # and why


def extract(
    tiles: str | Path,
    extractor: Encodes | None,
    slides: Path | None = None,
    batch_size: int = 64,
    skip_bad: bool = False,
    watch: Watch = lambda name, done, total: None,
    *,
    workers: int | Cluster = 1,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Extraction:
    """Extract the features of every slide that is neither done nor in the hands of another process.

    extractor : None for the tiles' pixels; with several workers a ``Promised`` one, else its weights go with each slide
    slides : where the slides lie now, if they were moved since they were tiled
    watch : hears of every batch, where one process does the work
    workers : processes on this machine, or a Dask cluster whose workers see the tiles and the slides
    progress : ``progress(done, total)`` hears of every slide
    """
    if batch_size < 1:
        raise InputError(f"batch size is {batch_size}; it must be at least 1")
    if isinstance(workers, Cluster):  # its workers stand in other folders
        tiles, slides = Path(tiles).absolute(), None if slides is None else slides.absolute()
    entries = list_tiles(tiles)
    units = [Unit(entry.name, feature_file(entry, extractor), entry) for entry in entries if len(entry.positions)]
    write = partial(_write_features, extractor, slides, batch_size, watch if workers == 1 else _unwatched)
    ready = partial(_prepare, Path(tiles), extractor)
    found = share(units, write, workers, skip_bad=skip_bad, ready=ready, progress=progress)
    if found.bad and not skip_bad:
        raise InputError(next(iter(found.bad.values())))
    return Extraction(empty=[entry.name for entry in entries if not len(entry.positions)], **found._asdict())


def feature_file(entry: TileFile, extractor: Encodes | None) -> Path:
    """Where the features of a slide lie, beside its tiles."""
    name = PIXELS if extractor is None else "".join(c if c.isalnum() or c in "-_." else "-" for c in extractor.name)
    return entry.path.parent / f"features-{name}" / f"{entry.name}.{entry.fingerprint}.npy"


def _prepare(tiles: Path, extractor: Encodes | None) -> None:
    """What an extractor lacks, no slide is blamed for."""
    check_seen(tiles)
    if isinstance(extractor, Promised):
        extractor.built()


def _unwatched(name: str, done: int, total: int) -> None:
    """Nobody in another process hears of batches."""


def _write_features(
    extractor: Encodes | None, slides: Path | None, batch_size: int, watch: Watch, unit: Unit, stream: BinaryIO
) -> None:
    """Batch by batch onto the disk: no slide must fit into memory."""
    entry: TileFile = unit.of
    path, total = _locate(entry, slides), len(entry.positions)
    with Slide(path) as slide:
        if (slide.width, slide.height) != (entry.width, entry.height):
            raise InputError(f"{path} is not the slide that {entry.path} was made from: its size differs")
        for start in range(0, total, batch_size):
            corners = entry.positions[start : start + batch_size].tolist()
            batch = np.stack([slide.read(x, y, entry.extent, entry.size) for x, y in corners])
            values = batch if extractor is None else extractor.features(batch)
            if start == 0:
                check_room(unit.target, total * values[0].nbytes)
                write_header(stream, (total, *values.shape[1:]), values.dtype)
            stream.write(np.ascontiguousarray(values).data)
            watch(entry.name, start + len(values), total)


def _locate(entry: TileFile, slides: Path | None) -> Path:
    if slides is None:
        return entry.slide
    found = [slides] if slides.is_file() else sorted(slides.rglob(entry.slide.name))
    if not found:
        raise InputError(f"{slides} holds no {entry.slide.name}; give the folder where the slides lie now")
    return found[0]
