"""Labels of slides for ``bagwise import``: a table of the user → the label and the case of each slide.

CLAM's table has the columns ``case_id, slide_id, label``. STAMP has two tables, one with ``PATIENT`` and the target,
and one with ``PATIENT, FILENAME``. Other tables can be read if their columns are named with options.

This reader accepts tables of many tools. ``slides.bag_labels.read_bag_labels``, which reads the labels for ``bagwise
extract`` and lists of images, is strict: csv files only, fixed column names, unchanged slide names, no repeated rows,
and only empty cells are missing. Labels are parsed differently as well: here ``1.0`` is the integer 1, ``0.5`` a float
and ``007`` text; there labels are integers if Python's ``int`` accepts all of them, and otherwise text.
"""

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from bagwise.arguments import canonicalize_name
from bagwise.bags import LABEL, LABEL_PREFIX, choose_label_columns, split_labels, strip_slide_name
from bagwise.data.formats.cells import check_column, is_missing_cell
from bagwise.data.formats.label_cells import build_labels, read_label_cell
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
    label : int, float, str or dict
        The label. Several labels are a dictionary by name, with None for an unknown one; survival has ``time`` and
        ``event``.
    case : str or None
        The case (patient); None if the table has no cases.
    """

    label: int | float | str | dict[str, Any]
    case: str | None


class _Row(NamedTuple):
    """The cells of one row by role, and its place in the file."""

    place: str
    cells: dict[str, str]


def read_slide_labels(
    path: str | Path,
    slide_table: str | Path | None = None,
    label_column: str | Sequence[str] | None = None,
    slide_column: str | None = None,
    case_column: str | None = None,
    time_column: str | None = None,
    event_column: str | None = None,
    censorship_column: str | None = None,
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
    label_column : str, sequence of str or None, default=None
        Name of the column of the label; None looks for common names such as ``label``. A sequence names several columns
        of numbers, in which an empty cell is an unknown label.
    slide_column, case_column : str or None, default=None
        Names of the columns; None looks for common names such as ``slide_id``, ``case_id`` and ``PATIENT``.
    time_column, event_column, censorship_column : str or None, default=None
        Names of the columns of survival labels, instead of ``label_column``: the time, and either the event or the
        censorship, which is 1 − event.

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
    labels = choose_label_columns(label_column, time_column, event_column, censorship_column, _format_option)
    given: dict[str, str | None] = {"slide": slide_column, "case": case_column, **labels}
    label_roles = tuple(labels) or (LABEL,)
    if slide_table is None:
        rows = _read_rows(path, ("slide", *label_roles), given, optional=("case",))
    else:
        case_rows = _read_rows(path, ("case", *label_roles), given)
        slide_rows = _read_rows(Path(slide_table), ("case", "slide"), given)
        rows = _join_tables(path, case_rows, Path(slide_table), slide_rows)
    return _index_by_slide(path if slide_table is None else Path(slide_table), rows)


def _read_rows(
    path: Path, required: tuple[str, ...], given: dict[str, str | None], optional: tuple[str, ...] = ()
) -> list[_Row]:
    with open_table(path) as table:
        indices = {}
        for role in (*required, *optional):
            column = _find_column(path, table.header, role, given.get(role), role in required)
            if column is not None:
                indices[role] = table.header.index(column)
        rows = []
        for place, cells in table.rows:
            texts = {
                role: read_label_cell(role, cells[index], f"{path}, {place}, column '{table.header[index]}'")
                for role, index in indices.items()
            }
            for role, index in indices.items():
                if not role.startswith(LABEL_PREFIX) and is_missing_cell(cells[index]):
                    raise InputError(
                        f"{path}, {place}, column '{table.header[index]}': the {role} is missing ({cells[index]!r}); "
                        "fill it in or delete the row"
                    )
            words = {role: str(text).strip().replace("\0", "") for role, text in texts.items()}
            rows.append(_Row(place, words))
        return rows


def _find_column(path: Path, header: list[str], role: str, given: str | None, required: bool) -> str | None:
    if given is not None:
        return check_column(path, header, given, _format_option(role.split()[0], given))
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
    labels: dict[str, dict[str, str]] = {}
    for place, cells in case_rows:
        case, label = cells["case"], {role: text for role, text in cells.items() if role != "case"}
        if labels.setdefault(case, label) != label:
            raise InputError(
                f"{path}, {place}: case '{case}' has the label {_join_texts(label)}, but {_join_texts(labels[case])} "
                "in an earlier row; keep one label per case"
            )
    rows = [
        _Row(row.place, {**row.cells, **labels[row.cells["case"]]}) for row in slide_rows if row.cells["case"] in labels
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
    labels = _build_labels(rows)
    for (place, cells), label in zip(rows, labels, strict=True):
        entry = SlideLabel(label, cells.get("case"))
        earlier = found.setdefault(strip_slide_name(cells["slide"]), entry)
        if earlier != entry:
            raise InputError(
                f"{path}, {place}: slide '{cells['slide']}' occurs twice with different entries ({_describe(earlier)} "
                f"and {_describe(entry)}); keep one row"
            )
    return found


def _build_labels(rows: list[_Row]) -> list[Any]:
    """Return the label of each row; several labels, or a time and an event, as a dictionary."""
    labels, names = build_labels({role: [row.cells[role] for row in rows] for role in rows[0].cells})
    columns = {} if labels is None else split_labels(labels, names)
    if LABEL in columns:
        return columns[LABEL].tolist()
    keys = [column.removeprefix(LABEL_PREFIX) for column in columns]
    values = zip(*(column.tolist() for column in columns.values()), strict=True)
    return [{key: None if cell != cell else cell for key, cell in zip(keys, row, strict=True)} for row in values]


def _format_option(role: str, column: str) -> str:
    return f"--{role}-column {shlex.quote(column)}"


def _join_texts(label: dict[str, str]) -> str:
    return (
        repr(label[LABEL])
        if LABEL in label
        else ", ".join(f"{role.removeprefix(LABEL_PREFIX)} {text}" for role, text in label.items())
    )


def _describe(entry: SlideLabel) -> str:
    return f"label {entry.label!r}" + ("" if entry.case is None else f", case {entry.case!r}")
