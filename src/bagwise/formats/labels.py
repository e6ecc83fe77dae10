"""Labels of slides from a user's table: slide → label and case.

CLAM's table is `case_id,slide_id,label`; STAMP has two, `PATIENT` and the target in one, `PATIENT,FILENAME` in another;
any other table will do when its columns are named.
"""

from pathlib import Path
from typing import Any, NamedTuple

from bagwise.errors import InputError
from bagwise.formats.cells import is_missing, typed
from bagwise.formats.columns import check_named
from bagwise.formats.tables import open_table
from bagwise.names import canonical

SLIDE = ("slide id", "slide", "filename", "slide name")
CASE = ("case id", "case", "patient", "patient id")
LABEL = ("label", "target", "y", "class")
FEATURES, IMAGES = ("h5", "pt"), ("tiff", "tif", "png", "jpg", "jpeg")
SLIDES = ("svs", "qptiff", "ndpi", "mrxs", "scn", "vms", "vmu", "svslide", "bif", "czi")
ENDINGS = {*FEATURES, *IMAGES, *SLIDES}


class Label(NamedTuple):
    """A slide's label, and the case it is of, where the table tells."""

    label: Any
    case: str | None


def read_labels(
    path: str | Path,
    slide_table: str | Path | None = None,
    label_column: str | None = None,
    slide_column: str | None = None,
    case_column: str | None = None,
) -> dict[str, Label]:
    """The label of each slide; endings such as .svs and .h5 are taken off the slides' names.

    slide_table : a second table, of cases and slides, where the first one has a label for each case (STAMP)

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "labels.csv"
    >>> _ = path.write_text("case_id,slide_id,label\\np1,s1.svs,1\\n")
    >>> read_labels(path)
    {'s1': Label(label=1, case='p1')}
    """
    path = Path(path)
    if slide_table is None:
        rows = _read(
            path, {"slide": (SLIDE, slide_column), "label": (LABEL, label_column)}, {"case": (CASE, case_column)}
        )
    else:
        of_cases = _read(path, {"case": (CASE, case_column), "label": (LABEL, label_column)}, {})
        of_slides = _read(Path(slide_table), {"case": (CASE, case_column), "slide": (SLIDE, slide_column)}, {})
        rows = _joined(path, of_cases, Path(slide_table), of_slides)
    return _by_slide(path, rows)


def slide_name(name: str) -> str:
    """The name of a slide without its folder and its ending.

    >>> slide_name("batch 1/TCGA-01.abc.svs")
    'TCGA-01.abc'
    """
    name = name.strip().replace("\\", "/").rpartition("/")[2]
    stem, _, ending = name.rpartition(".")
    return stem if stem and ending.lower() in ENDINGS else name


Wanted = dict[str, tuple[tuple[str, ...], str | None]]  # role → usual names, given name
Row = dict[str, str]


def _read(path: Path, needed: Wanted, optional: Wanted) -> list[Row]:
    with open_table(path) as table:
        places = {}
        for role, (usual, given) in (needed | optional).items():
            column = _column(path, table.header, role, usual, given, role in needed)
            if column is not None:
                places[role] = table.header.index(column)
        return [_row(path, place, cells, places) for place, cells in table.rows]


def _column(
    path: Path, header: list[str], role: str, usual: tuple[str, ...], given: str | None, needed: bool
) -> str | None:
    if given is not None:
        return check_named(path, header, f"--{role}-column", given)
    found = next((name for wanted in usual for name in header if canonical(name) == wanted), None)
    if found is None and needed:
        listed = ", ".join(header[:20])
        raise InputError(f"{path} has no column for the {role}; name it with --{role}-column: {listed}")
    return found


def _row(path: Path, place: str, cells: list[Any], places: dict[str, int]) -> Row:
    for role, index in places.items():
        if is_missing(cells[index]):
            raise InputError(f"{path}, {place}: the {role} is missing ({cells[index]!r}); fill it in or drop the row")
    return {"place": place, **{role: str(cells[index]).strip().replace("\0", "") for role, index in places.items()}}


def _joined(path: Path, of_cases: list[Row], slide_table: Path, of_slides: list[Row]) -> list[Row]:
    """Slides with the labels of their cases; cases without slides, and slides of cases without labels, are left out."""
    labels: dict[str, str] = {}
    for row in of_cases:
        if labels.setdefault(row["case"], row["label"]) != row["label"]:
            raise InputError(f"{path}, {row['place']}: case '{row['case']}' has another label before; keep one")
    rows = [{**row, "label": labels[row["case"]]} for row in of_slides if row["case"] in labels]
    if not rows:
        raise InputError(f"{path} and {slide_table} have no case in common; check the names of the cases")
    return rows


def _by_slide(path: Path, rows: list[Row]) -> dict[str, Label]:
    if not rows:
        raise InputError(f"{path} has no rows; give one for each slide")
    found: dict[str, Label] = {}
    for row, label in zip(rows, typed([row["label"] for row in rows]).tolist(), strict=True):
        entry = Label(label, row.get("case"))
        if found.setdefault(slide_name(row["slide"]), entry) != entry:
            raise InputError(
                f"{path}, {row['place']}: slide '{row['slide']}' is there twice, differently; keep one row"
            )
    return found
