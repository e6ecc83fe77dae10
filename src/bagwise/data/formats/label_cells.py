"""Labels in the cells of a table: one label, several numeric labels, or the time and the event of survival.

A cell is checked when its row is read, so that the error names file, row and column, and kept as text: rows of one bag
agree if their texts are equal. The labels are built from the texts of all bags.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bagwise.bags import CENSORSHIP, EVENT, LABEL, LABEL_PREFIX, TIME, make_survival_labels, parse_event
from bagwise.data.formats.cells import EXACT_LIMIT, is_missing_cell, parse_labels, parse_number
from bagwise.errors import InputError

UNKNOWN = "nan"  # text of an unknown one of several labels
NUMBER_BY_WORD = {"false": 0, "true": 1}


def read_label_cell(role: str, cell: Any, place: str) -> Any:
    """Return a cell of one of several labels, of a time or of an event as text; a cell of another role as it is.

    Parameters
    ----------
    role : str
        Role of the column: ``label NAME``, ``time``, ``event``, ``censorship``, or another one.
    cell : object
        Text from a csv file, or a Python value from a parquet file.
    place : str
        How error messages refer to the cell, e.g. ``"table.csv, line 2, column 'x'"``.

    Returns
    -------
    object

    Raises
    ------
    InputError
        If the cell is invalid.

    Examples
    --------
    >>> read_label_cell("label a", "", "line 2"), read_label_cell("event", "yes", "line 2")
    ('nan', 'True')
    """
    if role.startswith(LABEL_PREFIX):
        if is_missing_cell(cell):
            return UNKNOWN
        word = str(cell).strip().lower()
        return repr(float(NUMBER_BY_WORD[word]) if word in NUMBER_BY_WORD else parse_number(cell, place))
    if role == TIME:
        time = parse_number(cell, place)
        if time <= 0:
            raise InputError(f"{place} is {cell!r}; a time must be a number > 0: correct it, or delete the row")
        return repr(time)
    if role in (EVENT, CENSORSHIP):
        if is_missing_cell(cell):
            raise InputError(f"{place} is empty ({cell!r}); fill it in or delete the row")
        try:
            return str(parse_event(cell))
        except ValueError as error:
            raise InputError(f"{place}: {error}; encode the column as 0 and 1") from None
    return cell


def build_labels(texts: Mapping[str, Sequence[str]]) -> tuple[np.ndarray | None, list[str] | None]:
    """Build the labels of bags from the texts of their columns.

    Parameters
    ----------
    texts : dict of str to sequence of str
        Texts of all bags, by role of the column, as ``read_label_cell`` returns them; other roles are ignored.

    Returns
    -------
    labels : ndarray or None
        The labels in the form in which ``Bags`` keep them; None without label columns.
    label_names : list of str or None
        Names of several labels.

    Examples
    --------
    >>> build_labels({"label a": ["1.0", "0.0"], "label b": ["0.0", "nan"]})
    (array([[ 1.,  0.],
           [ 0., nan]]), ['a', 'b'])
    """
    if TIME in texts:
        role = EVENT if EVENT in texts else CENSORSHIP
        events = [(text == "True") == (role == EVENT) for text in texts[role]]
        return make_survival_labels([float(text) for text in texts[TIME]], events), None
    several = [role for role in texts if role.startswith(LABEL_PREFIX)]
    if several:
        labels = np.array([[float(text) for text in texts[role]] for role in several]).T
        are_whole = (labels == np.rint(labels)).all() and np.abs(labels).max(initial=0) < EXACT_LIMIT
        names = [role.removeprefix(LABEL_PREFIX) for role in several]
        return (labels.astype(np.int64) if are_whole else labels), names
    return (parse_labels(texts[LABEL]) if LABEL in texts else None), None
