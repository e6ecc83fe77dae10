"""Import of features with several processes: any number of processes read slides, and one packs the bags.

Reading is distributed with ``parallel.process_units``. ``import_features`` then packs the slides that were read, so the
bags, the report and the errors do not depend on the number of processes.

A *part* is the file of one slide that was read; it is stored until the bags are packed:

    OUT.parts/SLIDE.READING.part    npz: features, positions, and the other fields of the slide as JSON

READING is a hash of the settings that affect reading: the tool, the name of the folder, the resolution and the version
of bagwise. The hashes of the files are stored in the part. It is current as long as they match; modification times are
not used.
"""

import contextlib
import hashlib
import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from bagwise import __version__
from bagwise.data.formats.feature_folders import FeatureFolder, SlideFeatures, hash_source_files
from bagwise.data.formats.feature_import import ImportReport, check_output_folder, import_features, plan_import
from bagwise.data.formats.slide_labels import SlideLabel
from bagwise.errors import InputError
from bagwise.io import MANIFEST, check_disk_space, check_writable, hold_lock, read_npz
from bagwise.parallel import DaskCluster, ProcessedUnits, WorkUnit, check_files_visible, map_units, process_units

SUFFIX = ".part"
ARRAY_FIELDS, OTHER_FIELDS = ("features", "positions"), ("tile_size", "extractor", "note")  # of SlideFeatures
METADATA_KEY = "metadata"  # in the npz file

Progress = Callable[[int, int], None]


class SharedImport(NamedTuple):
    """The outcome of a shared import.

    Attributes
    ----------
    slides : ProcessedUnits
        The slides by outcome of reading.
    report : ImportReport or None
        The report of packing; None if another process packs the bags, or is still reading slides.
    """

    slides: ProcessedUnits
    report: ImportReport | None


def import_shared(
    features: FeatureFolder,
    labels: dict[str, SlideLabel],
    out: str | Path,
    *,
    workers: int | DaskCluster = 1,
    by_case: bool = False,
    extractor: str | None = None,
    skip_bad: bool = False,
    overwrite: bool = False,
    progress: Progress = lambda done, total: None,
) -> SharedImport:
    """Import like ``import_features``, and share the work with all processes that run the same import.

    Slides that were read are stored in OUT.parts until the bags are packed, so an interrupted import can be resumed.

    Parameters
    ----------
    features : FeatureFolder
        The features, from ``open_feature_folder``.
    labels : dict of str to SlideLabel
        The labels, from ``read_slide_labels``.
    out : str or Path
        The folder of bags to write.
    workers : int or DaskCluster, default=1
        Number of processes on this machine, or a Dask cluster whose workers can access both folders.
    by_case : bool, default=False
        Whether a bag contains all slides of a case, instead of one slide.
    extractor : str or None, default=None
        Name of the model that computed the features, for tools that do not store it.
    skip_bad : bool, default=False
        Whether to leave out bad slides, as in ``import_features``.
    overwrite : bool, default=False
        Whether to replace the bags if ``out`` already contains some.
    progress : callable, optional
        ``progress(done, total)`` is called after every slide that is read, and then after every bag that is packed.

    Returns
    -------
    SharedImport

    Raises
    ------
    InputError
        If a slide or the output folder cannot be used, or no bag remains.
    """
    out = Path(out)
    check_output_folder(out, overwrite)
    planned = plan_import(features, labels, by_case, skip_bad)
    check_writable(out)
    parts = _Parts(features, [slide for _, slides in planned.bags for slide in slides], out, workers, skip_bad)
    n_slides, total = len(parts.units), len(parts.units) + len(planned.bags)
    settings: dict[str, Any] = {"by_case": by_case, "extractor": extractor, "skip_bad": skip_bad}
    settings |= {"overwrite": overwrite, "progress": lambda done, _: progress(n_slides + done, total)}
    with _remove_if_empty(get_parts_folder(out)):
        processed = parts.read(parts.units, lambda done, _: progress(done, total))
        if processed.elsewhere and (skip_bad or not processed.bad):  # packing reports bad slides, in its own order
            return SharedImport(processed, None)
        with hold_lock(out.parent / f".{out.name}.lock") as acquired:
            return SharedImport(processed, _pack(parts, processed, labels, out, settings) if acquired else None)


def _pack(
    parts: "_Parts", processed: ProcessedUnits, labels: dict[str, SlideLabel], out: Path, settings: dict[str, Any]
) -> ImportReport | None:
    report = None
    if settings["overwrite"] or not (out / MANIFEST).exists():  # otherwise another process packed them meanwhile
        parts.refresh(processed.skipped)
        report = import_features(parts.features, labels, out, read_slide=parts.read_slide, **settings)
    remove_parts(out)
    return report


class _Parts:
    """The slides of an import, which many processes read and one packs."""

    def __init__(
        self, features: FeatureFolder, slides: list[str], out: Path, workers: int | DaskCluster, skip_bad: bool
    ) -> None:
        self.features, self.workers, self.skip_bad = features, workers, skip_bad
        self.source = _make_absolute(features) if isinstance(workers, DaskCluster) else features
        self.units = list_part_units(features, slides, out)
        self.paths = {unit.name: unit.target for unit in self.units}

    def read(self, units: list[WorkUnit], progress: Progress = lambda done, total: None) -> ProcessedUnits:
        """Read the slides that no process has read yet."""
        folder = self.units[0].target.parent
        folder.mkdir(parents=True, exist_ok=True)
        ready = partial(check_files_visible, self.source.folder, folder)
        write = partial(write_part, self.source)
        return process_units(units, write, self.workers, skip_bad=self.skip_bad, ready=ready, progress=progress)

    def refresh(self, names: list[str]) -> None:
        """Read the named slides again whose files changed since another process read them."""
        before, check = set(names), partial(is_part_current, self.source)
        current = dict(map_units(check, [unit for unit in self.units if unit.name in before], self.workers))
        stale = [unit for unit in self.units if not current.get(unit.name, True)]
        for unit in stale:
            unit.target.unlink(missing_ok=True)
        self.read(stale)

    def read_slide(self, slide: str) -> SlideFeatures:
        """Return a slide from its part; a bad slide has no part, and reading its files again raises the error."""
        part = read_part(self.paths[slide])
        return self.features.read(slide) if part is None else part


def _make_absolute(features: FeatureFolder) -> FeatureFolder:
    """Return the folder with absolute paths, for processes with another working directory."""
    patches = None if features.patches is None else features.patches.absolute()
    return type(features)(features.folder.absolute(), features.mpp, patches)


@contextlib.contextmanager
def _remove_if_empty(folder: Path) -> Iterator[None]:
    try:
        yield
    finally:
        with contextlib.suppress(OSError):  # the folder has parts, or does not exist
            folder.rmdir()


def get_parts_folder(out: Path) -> Path:
    """Return the folder of the parts, which is beside the folder of bags and thus on the same disk.

    Parameters
    ----------
    out : Path
        The folder of bags to write.

    Returns
    -------
    Path
        ``OUT.parts``.
    """
    resolved = out.resolve()  # "." has no name
    return resolved.with_name(f"{resolved.name}.parts")


def list_part_units(features: FeatureFolder, slides: list[str], out: Path) -> list[WorkUnit]:
    """Return one unit of work per slide."""
    identity = json.dumps([features.tool, features.folder.resolve().name, features.mpp, __version__]).encode()
    reading = hashlib.sha256(identity).hexdigest()[:12]
    return [WorkUnit(slide, get_parts_folder(out) / f"{slide}.{reading}{SUFFIX}") for slide in slides]


def write_part(features: FeatureFolder, unit: WorkUnit, stream: BinaryIO) -> None:
    """Read a slide and write it to a part."""
    sources = _hash_sources(features, unit.name)  # before reading: a file that changes meanwhile will not match
    slide = features.read(unit.name)
    arrays = {name: array for name in ARRAY_FIELDS if (array := getattr(slide, name)) is not None}
    metadata = {"sources": sources, "arrays": [*arrays], **{name: getattr(slide, name) for name in OTHER_FIELDS}}
    arrays[METADATA_KEY] = np.frombuffer(json.dumps(metadata).encode(), np.uint8)
    check_disk_space(unit.target, sum(array.nbytes for array in arrays.values()))
    np.savez(stream, **arrays)


def read_part(path: Path) -> SlideFeatures | None:
    """Return the slide of a part; None if the part does not exist or is damaged."""
    metadata = _read_metadata(path)
    if metadata is None:
        return None
    try:
        arrays: dict[str, Any] = {name: read_npz(path, name) for name in metadata["arrays"]}
        return SlideFeatures(**arrays, **{name: metadata[name] for name in OTHER_FIELDS})
    except (InputError, KeyError, TypeError):
        return None


def is_part_current(features: FeatureFolder, unit: WorkUnit) -> tuple[str, bool]:
    """Return the name of the unit, and whether the files did not change since its part was read."""
    metadata = _read_metadata(unit.target)
    try:
        return unit.name, metadata is not None and metadata.get("sources") == _hash_sources(features, unit.name)
    except InputError:
        return unit.name, False


def remove_parts(out: Path) -> None:
    """Remove all parts and the temporary files of killed processes; other files are kept."""
    folder = get_parts_folder(out)
    for path in [*folder.glob(f"*{SUFFIX}"), *folder.glob(".*.tmp")]:
        path.unlink(missing_ok=True)
    with contextlib.suppress(OSError):  # the folder does not exist, or has other files
        folder.rmdir()


def _read_metadata(path: Path) -> dict[str, Any] | None:
    try:
        metadata = json.loads(read_npz(path, METADATA_KEY).tobytes())
    except (InputError, ValueError):
        return None
    return metadata if isinstance(metadata, dict) else None


def _hash_sources(features: FeatureFolder, slide: str) -> list[str | None]:
    try:
        return hash_source_files(features, slide)
    except OSError as error:  # packing reads the slide again and reports the reader's error
        raise InputError(f"{error.filename}: {error.strerror}; check the permissions of the file") from None
