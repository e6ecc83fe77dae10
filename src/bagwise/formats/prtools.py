"""PRTools data sets in MATLAB files (.mat), the form in which Musk, Fox, Tiger and Elephant are handed around.

The variable ``x`` holds ``data`` (instances × features), and for each instance ``nlab`` (1 negative, 2 positive) and
``ident.milbag``, its bag.
"""

from pathlib import Path

import numpy as np

from bagwise.bags import Bags
from bagwise.errors import InputError
from bagwise.formats.matlab import read_matlab


def read_prtools(path: Path) -> Bags:
    """Bags of a PRTools file, named as in the file, with labels 0 and 1; values are not scaled."""
    features, classes, owners = _columns(path)
    if features.ndim != 2 or {len(classes), len(owners)} != {len(features)} or not len(features):
        raise InputError(f"{path}: data, nlab and ident.milbag differ in length; give each instance a label and a bag")
    kinds = features.dtype.kind in "fuib" and classes.dtype.kind in "fui" and owners.dtype.kind in "Ufui"
    if not kinds or not np.isin(classes, (1, 2)).all():
        raise InputError(f"{path}: data must be numbers, nlab 1 (negative) or 2 (positive), milbag numbers or texts")
    exact = np.result_type(features.dtype, np.float32)  # whole numbers as the smallest float that holds them
    is_text = owners.dtype.kind == "U"  # which MATLAB pads with spaces
    names = np.char.strip(owners) if is_text else np.array([f"{owner:.15g}" for owner in owners.tolist()])
    return pack_rows(features.astype(exact), names, classes.astype(int) - 1, str(path))


def _columns(path: Path) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Features, class and bag of each instance."""
    variable = read_matlab(path, "x")
    try:
        return np.asarray(variable["data"]), np.ravel(variable["nlab"]), np.ravel(variable["ident"]["milbag"])
    except (IndexError, KeyError, TypeError):
        needs = "x must hold data, nlab and ident.milbag; export a csv with one row an instance instead"
        raise InputError(f"{path} is not a PRTools data set of bags: {needs}") from None


def pack_rows(instances: np.ndarray, owners: np.ndarray, labels: np.ndarray, called: str) -> Bags:
    """Bags of a table with one row an instance, in the order of their first rows.

    >>> pack_rows(np.eye(3), np.array(["b", "a", "b"]), np.array([1, 0, 1]), "table").names.tolist()
    ['b', 'a']
    """
    names, first, places = np.unique(owners, return_index=True, return_inverse=True)
    ranks = np.argsort(np.argsort(first))[places]
    differs = labels != labels[first][places]
    if differs.any():
        raise InputError(f"{called}: bag '{owners[np.argmax(differs)]}' has two labels; give its instances one")
    return Bags(
        instances[np.argsort(ranks, kind="stable")],
        np.concatenate([[0], np.cumsum(np.bincount(ranks))]),
        labels=labels[np.sort(first)],
        names=names[np.argsort(first)].astype(str),
    )
