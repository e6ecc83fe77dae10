"""Tiles → features: one atomic file a slide, in a folder that several processes may share.

    tiles/features-NAME/SLIDE.FINGERPRINT.npy     (tiles, features) float16, or (tiles, size, size, 3) bytes of pixels
    tiles/features-NAME/SLIDE.claim               who works on a slide, while it is worked on

The fingerprint is that of the tiles: a slide that was tiled anew gets new features.
"""

import contextlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple, Protocol, runtime_checkable

import numpy as np

from bagwise.claims import claimed, owner
from bagwise.errors import InputError
from bagwise.files import check_room, naming
from bagwise.slides.packages import PIXELS
from bagwise.slides.slide import Slide
from bagwise.slides.tile_files import TileFile, list_tiles
from bagwise.writing import write_header

Watch = Callable[[str, int, int], None]  # a slide's name, its tiles done, all of its tiles


@runtime_checkable
class Encodes(Protocol):
    """What makes features of tiles: an ``Extractor``, or anything with a name and this method."""

    name: str

    def features(self, tiles: np.ndarray) -> np.ndarray:
        """(n, size, size, 3) bytes → (n, features) float16."""


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
) -> Extraction:
    """Extract the features of every slide that is neither done nor in the hands of another process.

    extractor : None for the tiles' pixels
    slides : where the slides lie now, if they were moved since they were tiled
    """
    if batch_size < 1:
        raise InputError(f"batch size is {batch_size}; it must be at least 1")
    result = Extraction([], [], [], {}, {})
    entries = list_tiles(tiles)
    for entry in entries:
        _visit(entry, extractor, slides, batch_size, skip_bad, watch, result)
    for entry in [entry for entry in entries if entry.name in result.elsewhere]:
        del result.elsewhere[entry.name]  # done by now, or left by a process that died: so the last one finds all done
        _visit(entry, extractor, slides, batch_size, skip_bad, watch, result)
    return result


def _visit(
    entry: TileFile,
    extractor: Encodes | None,
    slides: Path | None,
    batch_size: int,
    skip_bad: bool,
    watch: Watch,
    result: Extraction,
) -> None:
    target = feature_file(entry, extractor)
    if not len(entry.positions):
        result.empty.append(entry.name)
    elif target.exists():
        result.skipped.append(entry.name)
    else:
        try:
            _extract_one(entry, target, extractor, slides, batch_size, watch, result)
        except InputError as mistake:
            if not skip_bad:
                raise
            result.bad[entry.name] = str(mistake)


def feature_file(entry: TileFile, extractor: Encodes | None) -> Path:
    """Where the features of a slide lie, beside its tiles."""
    name = PIXELS if extractor is None else "".join(c if c.isalnum() or c in "-_." else "-" for c in extractor.name)
    return entry.path.parent / f"features-{name}" / f"{entry.name}.{entry.fingerprint}.npy"


def _extract_one(
    entry: TileFile,
    target: Path,
    extractor: Encodes | None,
    slides: Path | None,
    batch_size: int,
    watch: Watch,
    result: Extraction,
) -> None:
    claim = target.with_name(f"{entry.name}.claim")
    with claimed(claim) as mine:
        if not mine:
            result.elsewhere[entry.name] = owner(claim)
        elif target.exists():  # another process finished it just before the claim
            result.skipped.append(entry.name)
        else:
            _write_features(entry, target, extractor, _locate(entry, slides), batch_size, watch)
            result.done.append(entry.name)


def _write_features(
    entry: TileFile, target: Path, extractor: Encodes | None, slide_path: Path, batch_size: int, watch: Watch
) -> None:
    """Batch by batch onto the disk: no slide must fit into memory."""
    total = len(entry.positions)
    with Slide(slide_path) as slide, _whole(target) as stream:
        if (slide.width, slide.height) != (entry.width, entry.height):
            raise InputError(f"{slide_path} is not the slide that {entry.path} was made from: its size differs")
        for start in range(0, total, batch_size):
            corners = entry.positions[start : start + batch_size].tolist()
            batch = np.stack([slide.read(x, y, entry.extent, entry.size) for x, y in corners])
            values = batch if extractor is None else extractor.features(batch)
            if start == 0:
                check_room(target, total * values[0].nbytes)
                write_header(stream, (total, *values.shape[1:]), values.dtype)
            stream.write(np.ascontiguousarray(values).data)
            watch(entry.name, start + len(values), total)


@contextlib.contextmanager
def _whole(target: Path) -> Iterator[BinaryIO]:
    """Like ``files.atomic``, but with one draft a slide: a killed process leaves nothing behind for good."""
    draft = target.with_name(f".{target.stem}.draft")
    try:
        with naming(target, draft), draft.open("wb") as stream:  # no memory map: on a full disk it ends the process
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)


def _locate(entry: TileFile, slides: Path | None) -> Path:
    if slides is None:
        return entry.slide
    found = [slides] if slides.is_file() else sorted(slides.rglob(entry.slide.name))
    if not found:
        raise InputError(f"{slides} holds no {entry.slide.name}; give the folder where the slides lie now")
    return found[0]
