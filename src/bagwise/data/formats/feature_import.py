"""Import of features: a folder of features from another tool and a table of labels → a folder of bags.

Only the slides of one bag are in memory at a time. All slides must agree with the first one (extractor, number of
features, dtype, presence of positions). Empty and bad slides are reported by name.
"""

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bagwise.bags import KIND, BagWriter
from bagwise.data.formats.feature_folders import FeatureFolder, SlideFeatures
from bagwise.data.formats.slide_labels import SlideLabel
from bagwise.errors import InputError
from bagwise.io import MANIFEST, read_json


@dataclass
class ImportReport:
    """The outcome of an import.

    Attributes
    ----------
    slides_found : int
        Number of slides in the folder of features.
    bags, instances : int
        Number of bags and instances written.
    extractor : str or None
        Name of the model that computed the features; None if it is unknown.
    without_label, without_features : list of str
        Slides that are only in the folder of features, and slides that are only in the table of labels.
    empty : list of str
        Slides without tiles.
    bad : dict of str to str
        Slides that could not be used, with the reason.
    notes : list of str
        Notes for the user, e.g. why there are no positions.
    """

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
        """Return the report as a dictionary of plain values."""
        return asdict(self)


class ImportPlan(NamedTuple):
    """The plan of an import: a report to fill in, and the name and the slides of each bag."""

    report: ImportReport
    bags: list[tuple[str, list[str]]]


def import_features(
    features: FeatureFolder,
    labels: dict[str, SlideLabel],
    out: str | Path,
    *,
    by_case: bool = False,
    extractor: str | None = None,
    skip_bad: bool = False,
    overwrite: bool = False,
    read_slide: Callable[[str], SlideFeatures] | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> ImportReport:
    """Pack the slides that have features and a label into a folder of bags.

    The group of a bag is its case (patient).

    Parameters
    ----------
    features : FeatureFolder
        The features, from ``open_feature_folder``.
    labels : dict of str to SlideLabel
        The labels, from ``read_slide_labels``.
    out : str or Path
        The folder of bags to write.
    by_case : bool, default=False
        Whether a bag contains all slides of a case, instead of one slide. Such bags have no positions, because the
        positions of different slides cannot be compared.
    extractor : str or None, default=None
        Name of the model that computed the features, for tools that do not store it.
    skip_bad : bool, default=False
        Whether to leave out slides that cannot be read, or that are missing from the folder or from the labels. If
        False, the first of them raises an error, and nothing is written.
    overwrite : bool, default=False
        Whether to replace the bags if ``out`` already contains some.
    read_slide : callable or None, default=None
        ``read_slide(slide)`` returns a slide by its name; None reads it from ``features``.
    progress : callable, optional
        ``progress(done, total)`` is called after every bag with the number of bags done and the total.

    Returns
    -------
    ImportReport

    Raises
    ------
    InputError
        If a slide or the output folder cannot be used, or no bag remains.
    """
    check_output_folder(Path(out), overwrite)
    report, planned = plan_import(features, labels, by_case, skip_bad)
    reader = SlideReader(read_slide or features.read, extractor, skip_bad)
    with BagWriter(out) as writer:
        for done, (bag, slides) in enumerate(planned, start=1):
            found = [slide for name in slides if (slide := reader.read(name)) is not None]
            if found:
                _add_bag(writer, bag, labels[slides[0]], found, by_case)
            progress(done, len(planned))
        writer.extractor = report.extractor = reader.extractor
        writer.empty = [bag for bag, slides in planned if set(slides) <= set(reader.empty)]
        report.bags, report.instances = len(writer.sizes), sum(writer.sizes)
        report.empty, report.bad, report.notes = reader.empty, reader.bad, reader.notes
        if report.bags == 0:
            reasons = "; ".join(list(report.bad.values())[:3]) or f"all slides are empty: {_abbreviate(report.empty)}"
            raise InputError(f"{features.folder}: no slide can be imported: {reasons}")
    return report


def check_output_folder(out: Path, overwrite: bool) -> None:
    """Raise an error if the output folder contains anything but bags, or bags and ``overwrite`` is False."""
    if not out.exists() or (out.is_dir() and not any(out.iterdir())):
        return
    has_bags = (out / MANIFEST).is_file() and (found := read_json(out / MANIFEST)) and found.get("kind") == KIND
    if not has_bags:
        raise InputError(f"{out} exists and is not a folder of bags; choose a new folder with --out")
    if not overwrite:
        raise InputError(
            f"{out} already contains bags; replace them with --overwrite, or choose a new folder with --out"
        )


def plan_import(features: FeatureFolder, labels: dict[str, SlideLabel], by_case: bool, skip_bad: bool) -> ImportPlan:
    """Assign the slides to bags, by the names of the slides only."""
    report = ImportReport()
    selected = _select_slides(features, labels, report, skip_bad)
    return ImportPlan(report, list(_form_bags(selected, labels, by_case)))


def _select_slides(
    features: FeatureFolder, labels: dict[str, SlideLabel], report: ImportReport, skip_bad: bool
) -> list[str]:
    """Return the slides that have features and a label; record the others in the report."""
    slides = features.slides()
    report.slides_found = len(slides)
    report.without_label = [slide for slide in slides if slide not in labels]
    report.without_features = sorted(labels.keys() - set(slides))
    selected = [slide for slide in slides if slide in labels]
    if not selected:
        raise InputError(
            f"no slide in {features.folder} has a label: the folder has {_abbreviate(slides)}, the labels have "
            f"{_abbreviate([*labels])}; check the slide names, or choose their column with --slide-column NAME"
        )
    if (report.without_label or report.without_features) and not skip_bad:
        raise InputError(
            f"the slides in {features.folder} and in the labels differ: without a label: "
            f"{_abbreviate(report.without_label)}; without features: {_abbreviate(report.without_features)}; "
            "correct the names, or leave these slides out with --skip-bad"
        )
    return selected


def _form_bags(selected: list[str], labels: dict[str, SlideLabel], by_case: bool) -> Iterator[tuple[str, list[str]]]:
    """Yield the name and the slides of each bag, in the order of the slide names."""
    if not by_case:
        yield from ((slide, [slide]) for slide in selected)
        return
    cases: dict[str, list[str]] = {}
    for slide in selected:
        case = labels[slide].case
        if case is None:
            raise InputError(
                "--bag case requires the case of each slide; add a column case_id to the labels, or name the column "
                "with --case-column NAME"
            )
        cases.setdefault(case, []).append(slide)
        first = cases[case][0]
        if labels[slide].label != labels[first].label:
            raise InputError(
                f"the slides of case '{case}' have different labels: {labels[first].label!r} ('{first}') and "
                f"{labels[slide].label!r} ('{slide}'); give all of them the same label, or pass --bag slide"
            )
    yield from cases.items()


def _add_bag(writer: BagWriter, bag: str, label: SlideLabel, slides: list[SlideFeatures], by_case: bool) -> None:
    metadata: dict[str, Any] = {"name": bag, "label": label.label} | (
        {} if label.case is None else {"group": label.case}
    )
    if by_case:
        writer.add(np.concatenate([slide.features for slide in slides]), **metadata)
        return
    (slide,) = slides
    size: dict[str, Any] = {} if slide.tile_size is None else {"tile_size": slide.tile_size}
    writer.add(slide.features, positions=slide.positions, **metadata, **size)


class SlideReader:
    """Reader that checks that all slides agree with the first one.

    Parameters
    ----------
    read_slide : callable
        ``read_slide(slide)`` returns a slide by its name.
    extractor : str or None, default=None
        Name of the model that computed the features; None means the name stored with the slides.
    skip_bad : bool, default=False
        Whether to record a bad slide instead of raising an error.

    Attributes
    ----------
    extractor : str or None
        Name of the model that computed the features; None if it is unknown.
    empty : list of str
        Slides without tiles.
    bad : dict of str to str
        Slides that cannot be read or do not agree with the first one, with the reason.
    notes : list of str
        The notes of the slides, each once.
    """

    def __init__(
        self, read_slide: Callable[[str], SlideFeatures], extractor: str | None = None, skip_bad: bool = False
    ) -> None:
        self.read_slide = read_slide
        self.extractor = extractor
        self.skip_bad = skip_bad
        self.empty: list[str] = []
        self.bad: dict[str, str] = {}
        self.notes: list[str] = []
        self._first: tuple[str, SlideFeatures] | None = None

    def read(self, name: str) -> SlideFeatures | None:
        """Read a slide; return None if it is empty or bad."""
        try:
            slide = self.read_slide(name)
            if len(slide.features) == 0:
                self.empty.append(name)
                return None
            self._check(name, slide)
        except InputError as error:
            if not self.skip_bad:
                raise InputError(f"{error}; or leave bad slides out with --skip-bad") from None
            self.bad[name] = str(error)
            return None
        if slide.note and slide.note not in self.notes:
            self.notes.append(slide.note)
        return slide

    def _check(self, name: str, slide: SlideFeatures) -> None:
        if slide.features.dtype.kind == "f" and not (finite := np.isfinite(slide.features)).all():
            count, row = int((~finite).sum()), int(np.argmin(finite.all(axis=1)))
            raise InputError(
                f"slide '{name}' has {count} NaN or infinite features, first in row {row}; extract it again"
            )
        stated = slide.extractor
        if stated is not None and self.extractor is not None and stated != self.extractor:
            raise InputError(
                f"slide '{name}' has features of {stated}, not of {self.extractor}; extract all slides with one model"
            )
        if self._first is None:
            self._first = name, _drop_rows(slide)
            self.extractor = self.extractor or stated
        _check_agreement(name, slide, *self._first)


def _drop_rows(slide: SlideFeatures) -> SlideFeatures:
    """Return a slide without its rows, with which the other slides are compared."""
    positions = None if slide.positions is None else slide.positions[:0].copy()
    return slide._replace(features=slide.features[:0].copy(), positions=positions)


def _check_agreement(name: str, slide: SlideFeatures, first_name: str, first: SlideFeatures) -> None:
    for prefix, value, expected in (
        ("features per tile:", slide.features.shape[1], first.features.shape[1]),
        ("feature dtype:", slide.features.dtype.name, first.features.dtype.name),
        ("positions:", _yes_or_no(slide.positions), _yes_or_no(first.positions)),
        ("tile size:", _yes_or_no(slide.tile_size), _yes_or_no(first.tile_size)),
        ("extractor name:", _yes_or_no(slide.extractor), _yes_or_no(first.extractor)),
    ):
        if value != expected:
            raise InputError(
                f"slides '{first_name}' and '{name}' do not agree ({prefix} {expected} and {value}); extract both with "
                "the same tool and settings"
            )


def _yes_or_no(value: object) -> str:
    return "no" if value is None else "yes"


def _abbreviate(names: list[str]) -> str:
    return ", ".join(map(str, names[:5])) + (f" and {len(names) - 5} more" if len(names) > 5 else "") or "none"
