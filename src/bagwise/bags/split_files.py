"""Split files of CLAM: splits_k.csv with one column of slides per part, or splits_k_bool.csv with True and False."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bagwise.errors import InputError
from bagwise.io import CsvTable, open_csv

PARTS = ("train", "val", "test")
FEATURES, IMAGES = ("h5", "pt"), ("tiff", "tif", "png", "jpg", "jpeg")
SLIDES = ("svs", "qptiff", "ndpi", "mrxs", "scn", "vms", "vmu", "svslide", "bif", "czi")
ENDINGS = {*FEATURES, *IMAGES, *SLIDES}


class SplitFile(NamedTuple):
    """Names of the bags in each part of a split.

    Attributes
    ----------
    train : list of str
        Training bags.
    validation : list of str
        Validation bags.
    test : list of str
        Test bags.
    """

    train: list[str]
    validation: list[str]
    test: list[str]

    def rows(self, names: Sequence[str] | np.ndarray, path: Path) -> list[np.ndarray]:
        """Return the indices of the training, validation and test bags.

        Parameters
        ----------
        names : sequence of str
            Names of all bags.
        path : Path
            Path of the split file, for the error message.

        Returns
        -------
        list of numpy.ndarray
            Indices into ``names``, one array per part.

        Raises
        ------
        InputError
            If the file lists a bag that is not in ``names``.
        """
        places = {str(name): row for row, name in enumerate(names)}
        unknown = [name for part in self for name in part if name not in places]
        if unknown:
            raise InputError(f"{path} lists bags that are not in the data: {', '.join(unknown[:10])}; correct the file")
        return [np.array([places[name] for name in part], dtype=int) for part in self]


def read_split_file(path: str | Path) -> SplitFile:
    """Read a split file of CLAM, of either kind.

    Parameters
    ----------
    path : str or Path
        Path of the csv file.

    Returns
    -------
    SplitFile
        Names of the bags in each part, without folder and file extension.

    Raises
    ------
    InputError
        If a column is missing, there are no training slides, or a slide is listed twice.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "splits_0.csv"
    >>> _ = path.write_text(",train,val,test\\n0,a,c,d\\n1,b,,\\n")
    >>> read_split_file(path)
    SplitFile(train=['a', 'b'], validation=['c'], test=['d'])
    """
    path = Path(path)
    with open_csv(path) as table:
        missing = [part for part in PARTS if part not in table.header]
        if missing:
            raise InputError(f"{path} has no column {', '.join(missing)}; it needs the columns train, val and test")
        train, validation, test = _read_parts(table)
    if not train:
        raise InputError(f"{path} has no training slides; list them in the column train")
    repeated = sorted(name for name, count in Counter([*train, *validation, *test]).items() if count > 1)
    if repeated:
        raise InputError(f"{path} lists slides more than once: {', '.join(repeated[:10])}; list each in one part only")
    return SplitFile(train=train, validation=validation, test=test)


def _read_parts(table: CsvTable) -> list[list[str]]:
    columns = [table.header.index(part) for part in PARTS]
    rows = [cells for _, cells in table.rows]
    if rows and all(cells[column].strip().lower() in {"true", "false"} for cells in rows for column in columns):
        return [_read_flags(rows, column) for column in columns]
    return [[strip_slide_name(cells[column]) for cells in rows if cells[column].strip()] for column in columns]


def _read_flags(rows: list[list[Any]], column: int) -> list[str]:
    """Return the slides whose flag is True; the first column contains the name of the slide."""
    return [strip_slide_name(cells[0]) for cells in rows if cells[column].strip().lower() == "true"]


def strip_slide_name(name: str) -> str:
    """Return the name of a slide without its folder and its file extension.

    Parameters
    ----------
    name : str
        Name or path of a slide.

    Returns
    -------
    str
        Name without folder and extension.

    Examples
    --------
    >>> strip_slide_name("batch 1/TCGA-01.abc.svs")
    'TCGA-01.abc'
    """
    name = name.strip().replace("\\", "/").rpartition("/")[2]
    stem, _, extension = name.rpartition(".")
    return stem if stem and extension.lower() in ENDINGS else name
