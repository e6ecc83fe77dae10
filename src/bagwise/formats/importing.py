"""A folder of another tool's features and a table of labels → a folder of bags, one slide in memory at a time."""

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bagwise.errors import InputError
from bagwise.files import MANIFEST, read_json
from bagwise.formats.contract import FeatureFolder, Slide
from bagwise.formats.labels import Label
from bagwise.formats.slide_reader import SlideReader
from bagwise.writing import KIND, BagWriter


@dataclass
class Imported:
    """What an import found and did."""

    slides_found: int = 0
    bags: int = 0
    instances: int = 0
    extractor: str | None = None
    without_label: list[str] = field(default_factory=list)
    without_features: list[str] = field(default_factory=list)
    empty: list[str] = field(default_factory=list)
    bad: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


class Planned(NamedTuple):
    """An import before the first slide is read."""

    report: Imported
    bags: list[tuple[str, list[str]]]  # names, and the slides of each


def import_features(
    features: FeatureFolder,
    labels: dict[str, Label],
    out: str | Path,
    *,
    by_case: bool = False,
    extractor: str | None = None,
    skip_bad: bool = False,
    overwrite: bool = False,
    give: Callable[[str], Slide] | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Imported:
    """Pack the slides that have features and a label; a bag is a slide, and its group is its case.

    by_case : a bag is a case, its slides after one another; it has no positions, which mean nothing across slides
    extractor : the name of what made the features, where the files do not tell
    skip_bad : leave out slides that cannot be read, or that only the folder or only the labels name; without it the
        first of them ends the import, and nothing is written
    give : gives a slide by its name, where it need not be read anew
    """
    check_out(Path(out), overwrite)
    report, planned = plan_import(features, labels, by_case, skip_bad)
    reader = SlideReader(give or features.read, extractor, skip_bad)
    with BagWriter(out) as writer:
        for done, (bag, slides) in enumerate(planned, start=1):
            found = [slide for name in slides if (slide := reader.read(name)) is not None]
            if found:
                _add(writer, bag, labels[slides[0]], found, by_case)
            progress(done, len(planned))
        writer.extractor = report.extractor = reader.extractor
        writer.empty = [bag for bag, slides in planned if set(slides) <= set(reader.empty)]
        report.bags, report.instances = len(writer.sizes), sum(writer.sizes)
        report.empty, report.bad, report.notes = reader.empty, reader.bad, reader.notes
        _check_any(features, report)
    return report


def plan_import(features: FeatureFolder, labels: dict[str, Label], by_case: bool, skip_bad: bool) -> Planned:
    """What will be packed, by names alone: a report that is still to be filled, and each bag's name and slides."""
    report = Imported()
    return Planned(report, list(_planned(_chosen(features, labels, report, skip_bad), labels, by_case)))


def check_out(out: Path, overwrite: bool) -> None:
    """Only a folder of bags is ever replaced, and only when asked for."""
    if not out.exists() or (out.is_dir() and not any(out.iterdir())):
        return
    ours = (out / MANIFEST).is_file() and (found := read_json(out / MANIFEST)) and found.get("kind") == KIND
    if not ours:
        raise InputError(f"{out} exists and is not a folder of bags; choose a new folder")
    if not overwrite:
        raise InputError(f"{out} holds bags already; add --overwrite to replace them, or choose a new folder")


def _chosen(features: FeatureFolder, labels: dict[str, Label], report: Imported, skip_bad: bool) -> list[str]:
    """The slides that have features and a label."""
    slides = features.slides()
    report.slides_found = len(slides)
    report.without_label = [slide for slide in slides if slide not in labels]
    report.without_features = sorted(labels.keys() - set(slides))
    chosen = [slide for slide in slides if slide in labels]
    if not chosen:
        raise InputError(
            f"no slide of {features.folder} has a label: it has {_some(slides)}, the labels name {_some([*labels])}; "
            "check the names"
        )
    if (report.without_label or report.without_features) and not skip_bad:
        raise InputError(
            f"{features.folder} and the labels name different slides: without a label: {_some(report.without_label)}; "
            f"without features: {_some(report.without_features)}; mend the names, or leave these out with --skip-bad"
        )
    return chosen


def _planned(chosen: list[str], labels: dict[str, Label], by_case: bool) -> Iterator[tuple[str, list[str]]]:
    """Each bag's name and slides, in the order of their names."""
    if not by_case:
        yield from ((slide, [slide]) for slide in chosen)
        return
    cases: dict[str, list[str]] = {}
    for slide in chosen:
        case = labels[slide].case
        if case is None:
            raise InputError("--bag case needs the case of each slide; add a column case_id, or name it: --case-column")
        cases.setdefault(case, []).append(slide)
        if labels[slide].label != labels[cases[case][0]].label:
            raise InputError(f"slides of case '{case}' have different labels; label the case, or use --bag slide")
    yield from cases.items()


def _add(writer: BagWriter, bag: str, label: Label, found: list[Slide], by_case: bool) -> None:
    of_bag = {"name": bag, "label": label.label} | ({} if label.case is None else {"group": label.case})
    if by_case:
        writer.add(np.concatenate([slide.features for slide in found]), **of_bag)
        return
    (slide,) = found
    size: dict[str, Any] = {} if slide.tile_size is None else {"tile_size": slide.tile_size}
    writer.add(slide.features, positions=slide.positions, **of_bag, **size)


def _check_any(features: FeatureFolder, report: Imported) -> None:
    if report.bags == 0:
        reasons = "; ".join(list(report.bad.values())[:3]) or f"all are empty: {_some(report.empty)}"
        raise InputError(f"{features.folder} gives no bags: {reasons}")


def _some(names: list[str]) -> str:
    return ", ".join(map(str, names[:5])) + (f" and {len(names) - 5} more" if len(names) > 5 else "") or "none"
