"""Labels of slides for ``bagwise import``: a table of the user → the label and the case of each slide.

CLAM's table has the columns ``case_id, slide_id, label``. STAMP has two tables, one with ``PATIENT`` and the target,
and one with ``PATIENT, FILENAME``. Other tables can be read if their columns are named with options.

This reader accepts tables of many tools. ``slides.bag_labels.read_bag_labels``, which reads the labels for ``bagwise
extract`` and lists of images, is strict: csv files only, fixed column names, unchanged slide names, no repeated rows,
and only empty cells are missing. Labels are parsed differently as well: here ``1.0`` is the integer 1, ``0.5`` a float
and ``007`` text; there labels are integers if Python's ``int`` accepts all of them, and otherwise text.
"""

from pathlib import Path
from typing import NamedTuple

from bagwise.arguments import canonicalize_name
from bagwise.bags import strip_slide_name
from bagwise.data.formats.cells import check_column, is_missing_cell, parse_labels
from bagwise.data.formats.tables import open_table
from bagwise.errors import InputError

COLUMN_NAMES = {
    "slide": ("slide id", "slide", "filename", "slide name"),
    "case": ("case id", "case", "patient", "patient id"),
    "label": ("label", "target", "y", "class"),
}  # in order of preference


class SlideLabel(NamedTuple):
    """The label and the case of a slide.

    Attributes
    ----------
    label : int, float or str
        The label.
    case : str or None
        The case (patient); None if the table has no cases.
    """

    label: int | float | str
    case: str | None


class _Row(NamedTuple):
    """The cells of one row by role, and its place in the file."""

    place: str
    cells: dict[str, str]


def read_slide_labels(
    path: str | Path,
    slide_table: str | Path | None = None,
    label_column: str | None = None,
    slide_column: str | None = None,
    case_column: str | None = None,
) -> dict[str, SlideLabel]:
    """Read the label of each slide.

    Folders and suffixes such as .svs and .h5 are removed from the slide names.

    Parameters
    ----------
    path : str or Path
        A csv, tsv or parquet file with one row per slide, or with one row per case if ``slide_table`` is given.
    slide_table : str, Path or None, default=None
        A second table with the case of each slide, if ``path`` contains labels of cases (STAMP). Cases without slides
        and slides of cases without a label are left out.
    label_column, slide_column, case_column : str or None, default=None
        Names of the columns; None looks for common names such as ``slide_id``, ``case_id``, ``PATIENT`` and ``label``.

    Returns
    -------
    dict of str to SlideLabel
        The labels by slide name.

    Raises
    ------
    InputError
        If a column or a cell is missing, or a slide or case has two labels.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "labels.csv"
    >>> _ = path.write_text("case_id,slide_id,label\\np1,s1.svs,1\\n")
    >>> read_slide_labels(path)
    {'s1': SlideLabel(label=1, case='p1')}
    """
    path = Path(path)
    given = {"slide": slide_column, "case": case_column, "label": label_column}
    if slide_table is None:
        rows = _read_rows(path, ("slide", "label"), given, optional=("case",))
    else:
        case_rows = _read_rows(path, ("case", "label"), given)
        slide_rows = _read_rows(Path(slide_table), ("case", "slide"), given)
        rows = _join_tables(path, case_rows, Path(slide_table), slide_rows)
    return _index_by_slide(path if slide_table is None else Path(slide_table), rows)


def _read_rows(
    path: Path, required: tuple[str, ...], given: dict[str, str | None], optional: tuple[str, ...] = ()
) -> list[_Row]:
    with open_table(path) as table:
        indices = {}
        for role in (*required, *optional):
            column = _find_column(path, table.header, role, given[role], role in required)
            if column is not None:
                indices[role] = table.header.index(column)
        rows = []
        for place, cells in table.rows:
            for role, index in indices.items():
                if is_missing_cell(cells[index]):
                    raise InputError(
                        f"{path}, {place}, column '{table.header[index]}': the {role} is missing ({cells[index]!r}); "
                        "fill it in or delete the row"
                    )
            words = {role: str(cells[index]).strip().replace("\0", "") for role, index in indices.items()}
            rows.append(_Row(place, words))
        return rows


def _find_column(path: Path, header: list[str], role: str, given: str | None, required: bool) -> str | None:
    if given is not None:
        return check_column(path, header, given, f"--{role}-column {given}")
    names = COLUMN_NAMES[role]
    found = next((name for wanted in names for name in header if canonicalize_name(name) == wanted), None)
    if found is None and required:
        raise InputError(
            f"{path} has no column for the {role}; name it with --{role}-column NAME "
            f"(columns: {', '.join(header[:20])})"
        )
    return found


def _join_tables(path: Path, case_rows: list[_Row], slide_table: Path, slide_rows: list[_Row]) -> list[_Row]:
    """Return the rows of the slides, with the labels of their cases."""
    labels: dict[str, str] = {}
    for place, cells in case_rows:
        case, label = cells["case"], cells["label"]
        if labels.setdefault(case, label) != label:
            raise InputError(
                f"{path}, {place}: case '{case}' has the label {label!r}, but {labels[case]!r} in an earlier row; "
                "keep one label per case"
            )
    rows = [
        _Row(row.place, {**row.cells, "label": labels[row.cells["case"]]})
        for row in slide_rows
        if row.cells["case"] in labels
    ]
    if not rows:
        raise InputError(
            f"{path} and {slide_table} have no case in common; check the names of the cases, or choose their column "
            "with --case-column NAME"
        )
    return rows


def _index_by_slide(path: Path, rows: list[_Row]) -> dict[str, SlideLabel]:
    if not rows:
        raise InputError(f"{path} has no rows; it needs one row per slide")
    found: dict[str, SlideLabel] = {}
    labels = parse_labels([row.cells["label"] for row in rows]).tolist()
    for (place, cells), label in zip(rows, labels, strict=True):
        entry = SlideLabel(label, cells.get("case"))
        earlier = found.setdefault(strip_slide_name(cells["slide"]), entry)
        if earlier != entry:
            raise InputError(
                f"{path}, {place}: slide '{cells['slide']}' occurs twice with different entries ({_describe(earlier)} "
                f"and {_describe(entry)}); keep one row"
            )
    return found


def _describe(entry: SlideLabel) -> str:
    return f"label {entry.label!r}" + ("" if entry.case is None else f", case {entry.case!r}")
