"""The import shared by many: slides are read by any number of processes, and packed by one.

Reading is shared (``working.units``); packing is the import of one process, which is given slides that were read
before. So the bags, the report and the refusals are the same, however many have read.
"""

import contextlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from bagwise.claims import claimed
from bagwise.files import MANIFEST, check_writable
from bagwise.formats.contract import FeatureFolder, Slide
from bagwise.formats.importing import Imported, check_out, import_features, plan_import
from bagwise.formats.labels import Label
from bagwise.formats.parts import holds, part_units, parts_folder, read_part, remove_parts, write_part
from bagwise.working.cluster import Cluster
from bagwise.working.units import Shared, Unit, check_seen, each, share

Progress = Callable[[int, int], None]


class SharedImport(NamedTuple):
    """What became of the slides, and the report of the import; None if another command packs, or has still to."""

    slides: Shared
    report: Imported | None


def import_shared(
    features: FeatureFolder,
    labels: dict[str, Label],
    out: str | Path,
    *,
    workers: int | Cluster = 1,
    by_case: bool = False,
    extractor: str | None = None,
    skip_bad: bool = False,
    overwrite: bool = False,
    progress: Progress = lambda done, total: None,
) -> SharedImport:
    """Import like ``import_features``, with the same settings, together with whoever runs the same over OUT.

    A slide that was read lies in OUT.parts until the bags are packed: what was cut goes on from there.

    workers : processes on this machine, or a Dask cluster whose workers see both folders
    progress : ``progress(done, total)`` hears of every slide that is read, and then of every bag that is packed
    """
    out = Path(out)
    check_out(out, overwrite)
    planned = plan_import(features, labels, by_case, skip_bad)
    check_writable(out)
    parts = _Parts(features, [slide for _, slides in planned.bags for slide in slides], out, workers, skip_bad)
    n_slides, total = len(parts.units), len(parts.units) + len(planned.bags)
    settings: dict[str, Any] = {"by_case": by_case, "extractor": extractor, "skip_bad": skip_bad}
    settings |= {"overwrite": overwrite, "progress": lambda done, _: progress(n_slides + done, total)}
    with _emptied(parts_folder(out)):
        found = parts.read(parts.units, lambda done, _: progress(done, total))
        if found.elsewhere and (skip_bad or not found.bad):  # bad slides are told by the packing, in its order
            return SharedImport(found, None)
        with claimed(out.parent / f".{out.name}.claim") as mine:
            return SharedImport(found, _pack(parts, found, labels, out, settings) if mine else None)


def _pack(
    parts: "_Parts", found: Shared, labels: dict[str, Label], out: Path, settings: dict[str, Any]
) -> Imported | None:
    report = None
    if settings["overwrite"] or not (out / MANIFEST).exists():  # else another command packed while this one read
        parts.renew(found.skipped)
        report = import_features(parts.features, labels, out, give=parts.give, **settings)
    remove_parts(out)
    return report


class _Parts:
    """The slides of an import: read by many, given to one."""

    def __init__(
        self, features: FeatureFolder, slides: list[str], out: Path, workers: int | Cluster, skip_bad: bool
    ) -> None:
        self.features, self.workers, self.skip_bad = features, workers, skip_bad
        self.source = _absolute(features) if isinstance(workers, Cluster) else features
        self.units = part_units(features, slides, out)
        self.places = {unit.name: unit.target for unit in self.units}

    def read(self, units: list[Unit], progress: Progress = lambda done, total: None) -> Shared:
        """Read what nobody has read yet."""
        folder = self.units[0].target.parent
        folder.mkdir(parents=True, exist_ok=True)
        ready = partial(check_seen, self.source.folder, folder)
        write = partial(write_part, self.source)
        return share(units, write, self.workers, skip_bad=self.skip_bad, ready=ready, progress=progress)

    def renew(self, names: list[str]) -> None:
        """Read again what changed since it was read: by an earlier command that was cut, or by another one."""
        before, wanted = set(names), partial(holds, self.source)
        found = dict(each(wanted, [unit for unit in self.units if unit.name in before], self.workers))
        stale = [unit for unit in self.units if not found.get(unit.name, True)]
        for unit in stale:
            unit.target.unlink(missing_ok=True)
        self.read(stale)

    def give(self, slide: str) -> Slide:
        """A slide from its part; one that has none, because it is bad, from its files, whose reader says why."""
        part = read_part(self.places[slide])
        return self.features.read(slide) if part is None else part


def _absolute(features: FeatureFolder) -> FeatureFolder:
    """The same folder for processes that stand elsewhere."""
    patches = None if features.patches is None else features.patches.absolute()
    return type(features)(features.folder.absolute(), features.mpp, patches)


@contextlib.contextmanager
def _emptied(folder: Path) -> Iterator[None]:
    """Leave no empty folder behind."""
    try:
        yield
    finally:
        with contextlib.suppress(OSError):  # it holds parts, or is gone
            folder.rmdir()
