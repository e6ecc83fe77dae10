"""A part: one slide as some process read it, in a file of its own until the bags are packed.

    OUT.parts/SLIDE.READING.part    npz: features, positions, and as JSON what else is told of the slide

READING stands for what decides the reading besides the files: the tool, the resolution, this version. The hashes of
the files lie within: a part holds as long as they are those of the files, whatever their times say.
"""

import contextlib
import hashlib
import json
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from bagwise import __version__
from bagwise.errors import InputError
from bagwise.files import check_room
from bagwise.formats.contract import FeatureFolder, Slide
from bagwise.formats.numpy_files import read_npz
from bagwise.formats.source_files import source_hashes
from bagwise.working.units import Unit

SUFFIX = ".part"
ARRAYS, FACTS = ("features", "positions"), ("tile_size", "extractor", "note")  # of a Slide


def parts_folder(out: Path) -> Path:
    """Where the parts lie: beside the bags that are to be, and on their disk."""
    place = out.resolve()  # "." has no name
    return place.with_name(f"{place.name}.parts")


def part_units(features: FeatureFolder, slides: list[str], out: Path) -> list[Unit]:
    """A unit for each slide."""
    facts = json.dumps([features.tool, features.folder.resolve().name, features.mpp, __version__]).encode()
    reading = hashlib.sha256(facts).hexdigest()[:12]
    return [Unit(slide, parts_folder(out) / f"{slide}.{reading}{SUFFIX}") for slide in slides]


def write_part(features: FeatureFolder, unit: Unit, stream: BinaryIO) -> None:
    """Read a slide and write it as it is."""
    sources = _sources(features, unit.name)  # before the slide is read: a file that changes meanwhile will not match
    slide = features.read(unit.name)
    arrays = {name: array for name in ARRAYS if (array := getattr(slide, name)) is not None}
    told = {"sources": sources, "arrays": [*arrays], **{name: getattr(slide, name) for name in FACTS}}
    arrays["told"] = np.frombuffer(json.dumps(told).encode(), np.uint8)
    check_room(unit.target, sum(array.nbytes for array in arrays.values()))
    np.savez(stream, **arrays)


def read_part(path: Path) -> Slide | None:
    """The slide as it was read; None where there is no part, or a damaged one."""
    told = _told(path)
    if told is None:
        return None
    try:
        arrays: dict[str, Any] = {name: read_npz(path, name) for name in told["arrays"]}
        return Slide(**arrays, **{name: told[name] for name in FACTS})
    except (InputError, KeyError, TypeError):
        return None


def holds(features: FeatureFolder, unit: Unit) -> tuple[str, bool]:
    """The unit's name, and whether its part was read from the files as they are now."""
    told = _told(unit.target)
    try:
        return unit.name, told is not None and told.get("sources") == _sources(features, unit.name)
    except InputError:
        return unit.name, False


def remove_parts(out: Path) -> None:
    """Remove all parts, and what killed processes left of others; never what is not ours."""
    folder = parts_folder(out)
    for path in [*folder.glob(f"*{SUFFIX}"), *folder.glob(".*.draft")]:
        path.unlink(missing_ok=True)
    with contextlib.suppress(OSError):  # not there, or it holds something else
        folder.rmdir()


def _told(path: Path) -> dict[str, Any] | None:
    try:
        told = json.loads(read_npz(path, "told").tobytes())
    except (InputError, ValueError):
        return None
    return told if isinstance(told, dict) else None


def _sources(features: FeatureFolder, slide: str) -> list[str | None]:
    try:
        return source_hashes(features, slide)
    except OSError as error:  # said of the slide when it is packed, in the words of its reader
        raise InputError(f"{error.filename}: {error.strerror}") from None
