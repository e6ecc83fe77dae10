"""The labels of bags as columns: one label, several named labels, or the time and event of survival.

    shape (n_bags,)                          one label per bag              column  label
    shape (n_bags, k), with label_names      several; NaN means unknown     columns label NAME, …
    fields event and time                    whether it happened, and when  columns time, event

Files of bags and of predictions use these columns.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from bagwise.bags.checks import SURVIVAL_TYPE, get_column_kind, is_missing_value
from bagwise.errors import InputError

LABEL, TIME, EVENT, CENSORSHIP = "label", "time", "event", "censorship"
LABEL_PREFIX = f"{LABEL} "  # of the columns of several labels
EVENT_BY_TEXT = {"0": False, "1": True, "false": False, "true": True, "no": False, "yes": True}

LabelNames = tuple[str, ...]


def convert_labels(labels: np.ndarray) -> np.ndarray:
    """Return labels in the form in which bags keep them; labels that are invalid are not changed.

    Parameters
    ----------
    labels : ndarray
        Labels of bags. In several columns of Python objects, None and other missing values become NaN.

    Returns
    -------
    ndarray
        Survival labels with the fields event (bool) and time (float64), in this order; several labels as numbers or
        booleans; other labels as they are.

    Examples
    --------
    >>> convert_labels(np.array([[True, None]], dtype=object))
    array([[ 1., nan]])
    """
    if labels.dtype.names is not None:
        fields = {name: labels.dtype[name].kind for name in labels.dtype.names}
        is_valid = fields.keys() == {EVENT, TIME} and fields[EVENT] == "b" and fields[TIME] in "fui"
        return make_survival_labels(labels[TIME], labels[EVENT]) if is_valid else labels
    if labels.ndim != 2 or labels.dtype.kind != "O":
        return labels
    known = [value for value in labels.ravel() if not is_missing_value(value)]
    kind = get_column_kind("labels", np.fromiter(known, dtype=object))
    if kind == "str":
        return labels
    if len(known) == labels.size:
        return labels.astype({"bool": bool, "int": np.int64, "float": np.float64}[kind])
    numbers = [np.nan if is_missing_value(value) else float(value) for value in labels.ravel()]
    return np.array(numbers).reshape(labels.shape)


def make_survival_labels(time: Any, event: Any) -> np.ndarray:
    """Make labels with the fields event and time, as in scikit-survival.

    Parameters
    ----------
    time : array-like of float, of shape (n_bags,)
        Time until the event or, without an event, until the end of observation.
    event : array-like of bool, of shape (n_bags,)
        Whether the event happened.

    Returns
    -------
    structured ndarray of shape (n_bags,)

    Examples
    --------
    >>> make_survival_labels([1.5, 4.0], [True, False])
    array([( True, 1.5), (False, 4. )], dtype=[('event', '?'), ('time', '<f8')])
    """
    labels = np.empty(np.shape(time), dtype=SURVIVAL_TYPE)
    labels[TIME], labels[EVENT] = time, event
    return labels


def check_label_names(names: Any, labels: np.ndarray | None) -> LabelNames | None:
    """Return the names of label columns as a tuple of strings; None if there are none.

    Parameters
    ----------
    names : sequence of str or None
        One unique name per column of labels.
    labels : ndarray or None
        Labels of bags.

    Returns
    -------
    tuple of str or None

    Raises
    ------
    InputError
        If there is not one unique name per column, or if labels do not have several columns.
    """
    if names is None:
        return None
    are_names = isinstance(names, Sequence) and all(isinstance(name, str) and name for name in names)
    if isinstance(names, str) or not are_names:
        raise InputError("label_names must be a sequence of strings, one per column of labels; convert them with str()")
    if labels is None or labels.ndim != 2:
        shape = "None" if labels is None else f"of shape {labels.shape}"
        raise InputError(f"label_names are for labels of shape (n_bags, k), but labels are {shape}; leave them out")
    if len(names) != labels.shape[1]:
        raise InputError(f"there are {len(names)} label_names for {labels.shape[1]} columns of labels; give one each")
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise InputError(f"the label name '{repeated[0]}' occurs more than once; rename all but one of the labels")
    return tuple(map(str, names))


def split_labels(labels: np.ndarray, label_names: Sequence[str] | None) -> dict[str, np.ndarray]:
    """Return labels as columns of a file.

    Parameters
    ----------
    labels : ndarray of shape (n_bags,) or (n_bags, k)
        Labels of bags.
    label_names : sequence of str or None
        Name of each of several columns; None numbers them.

    Returns
    -------
    dict of str to ndarray of shape (n_bags,)
        Values by the name of the column: ``label``, or ``label NAME`` for each name, or ``time`` and ``event``.

    Examples
    --------
    >>> split_labels(np.array([[1, 0]]), ("a", "b"))
    {'label a': array([1]), 'label b': array([0])}
    """
    if labels.dtype.names is not None:
        return {TIME: labels[TIME], EVENT: labels[EVENT]}
    if labels.ndim == 1:
        return {LABEL: labels}
    names = range(labels.shape[1]) if label_names is None else label_names
    return {f"{LABEL_PREFIX}{name}": labels[:, column] for column, name in enumerate(names)}


def count_columns(labels: np.ndarray | None) -> int | None:
    """Return the number of columns of labels of shape (n_bags, k); None for other labels."""
    return labels.shape[1] if labels is not None and labels.ndim == 2 else None


def make_label_row(label: Any, label_names: LabelNames | None) -> tuple[np.ndarray, LabelNames | None]:
    """Return the label of one bag as the labels of one bag, and the names of its columns.

    Parameters
    ----------
    label : object
        A scalar; a sequence, or a mapping of names to values, for several labels; or a mapping or a structured scalar
        with event and time.
    label_names : tuple of str or None
        Names of the columns of several labels, if they are known.

    Returns
    -------
    labels : ndarray of shape (1,) or (1, k)
    label_names : tuple of str or None

    Raises
    ------
    InputError
        If the names of a mapping differ from ``label_names``.

    Examples
    --------
    >>> make_label_row({"a": 1, "b": None}, None)
    (array([[ 1., nan]]), ('a', 'b'))
    """
    if isinstance(label, Mapping):
        if label_names is None and label.keys() == {EVENT, TIME}:
            values = np.array([label[EVENT]]), np.array([label[TIME]])
            fields = [(EVENT, values[0].dtype), (TIME, values[1].dtype)]
            row = np.empty(1, dtype=fields)
            row[EVENT], row[TIME] = values
            return convert_labels(row), None
        label_names = tuple(label) if label_names is None else label_names
        if label.keys() != set(label_names):
            raise InputError(
                f"the label has the names {', '.join(map(str, label))}, but label_names are {', '.join(label_names)}; "
                "give one value for each, None if it is unknown"
            )
        label = [label[name] for name in label_names]
    return convert_labels(np.asarray([label])), label_names


def choose_label_columns(
    label: str | Sequence[str] | None,
    time: str | None,
    event: str | None,
    censorship: str | None,
    option: Callable[[str, str], str] = "{}={}".format,
) -> dict[str, str]:
    """Return the columns of a table that contain labels, as they are named by the user.

    Parameters
    ----------
    label : str, sequence of str or None
        One label column, or several.
    time, event, censorship : str or None
        Columns of survival labels: the time, and either the event or the censorship, which is 1 − event.
    option : callable, default="{}={}".format
        ``option(name, value)`` returns how error messages refer to an option.

    Returns
    -------
    dict of str to str
        Columns by role: ``label``; or ``label NAME`` for each of several names; or ``time`` and either ``event`` or
        ``censorship``. Empty if nothing was named.

    Raises
    ------
    InputError
        If the options exclude each other, or one is missing.

    Examples
    --------
    >>> choose_label_columns(["a", "b"], None, None, None)
    {'label a': 'a', 'label b': 'b'}
    """
    survival = {TIME: time, EVENT: event, CENSORSHIP: censorship}
    given = {role: column for role, column in survival.items() if column is not None}
    if not given:
        if isinstance(label, str) or label is None:
            return {} if label is None else {LABEL: label}
        if not label or len({*label}) < len(label):
            raise InputError(f"label={list(label)!r} must name different columns, at least one")
        return {f"{LABEL_PREFIX}{column}": column for column in label}
    listed = ", ".join(option(role, column) for role, column in given.items())
    if label is not None:
        raise InputError(f"the label is either one or several columns or a time and an event; leave out {listed}")
    if time is None:
        raise InputError(f"{listed} needs the column of the time; name it with {option(TIME, 'NAME')}")
    if (event is None) == (censorship is None):
        fix = "name" if event is None else "keep only"
        raise InputError(
            f"{listed}: {fix} one of {option(EVENT, 'NAME')} (1 or true if the event happened) and "
            f"{option(CENSORSHIP, 'NAME')} (1 − event)"
        )
    return given


def parse_event(value: Any) -> bool:
    """Return whether an event happened: a bool, or 0/1, true/false or yes/no.

    Raises
    ------
    ValueError
        If the value is anything else.

    Examples
    --------
    >>> parse_event("Yes"), parse_event(0), parse_event(True)
    (True, False, True)
    """
    text = str(value).strip().lower()
    text = text.removesuffix(".0") if isinstance(value, float | np.floating) else text
    if text not in EVENT_BY_TEXT:
        raise ValueError(f"{value!r} is not 0 or 1, true or false, yes or no")
    return EVENT_BY_TEXT[text]
