"""Three sets beyond the paper: features of the UCSB breast images, Newsgroups 1, and the bird song of Brown Creeper.

The files repeat the bag's label for each instance, so there are no instance labels. Features are not scaled (birds
reach 1e5): the estimator standardises them. The files are known by their SHA-256, so their content needs no check.
"""

import io
from collections.abc import Callable
from pathlib import Path, PurePosixPath

import numpy as np

from bagwise.bags import Bags
from bagwise.datasets.home import locate
from bagwise.datasets.wrappers import content
from bagwise.formats.prtools import pack_rows


def load_ucsb_breast() -> Bags:
    """One csv: a bag's label, its number, then 708 features."""
    (path,) = locate("ucsb-breast").values()
    table = _numbers(path, delimiter=",")
    return pack_rows(table[:, 2:], table[:, 1].astype(int), table[:, 0].astype(int), str(path))


def loader(name: str) -> Callable[[], Bags]:
    """The function that loads one of the sets in three files: data (features × instances), bagids and labels."""

    def load() -> Bags:
        files = {PurePosixPath(key).stem: path for key, path in locate(name).items()}
        owners, labels = (_numbers(files[part])[:, 0].astype(int) for part in ("bagids", "labels"))
        features = _numbers(files["data"]).T
        return pack_rows(np.ascontiguousarray(features), owners, labels, str(files["data"]))

    return load


def _numbers(path: Path, delimiter: str | None = None) -> np.ndarray:
    return np.loadtxt(io.BytesIO(content(path)), delimiter=delimiter, ndmin=2)
