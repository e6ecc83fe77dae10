"""MIL benchmarks with feature vectors: Musk1, Musk2, Fox, Tiger, Elephant, and seven data sets not in the paper.

The five classical benchmarks are read from the PRTools files of miproblems.org. The others are features of the UCSB
breast images, two topics of newsgroups, the bird song of Brown Creeper, molecules (Mutagenesis 1), proteins and
photographs (Corel, beach). Defaults are developed on these seven, so that the five of the paper can confirm them.

Features are not scaled (those of Brown Creeper reach 1e5): standardisation is part of the estimator, which fits it on
the training bags only. Fox, Tiger and Elephant have 108, 106 and 120 constant features; rounding gives
some of them a standard deviation just above zero. There are no instance labels: the files repeat the label of the bag
for each instance. The files are verified by their SHA-256, so their content needs no further checks.
"""

import io
from collections.abc import Callable
from pathlib import Path, PurePosixPath

import numpy as np

from bagwise.bags import Bags
from bagwise.data.datasets.dataset_files import read_content
from bagwise.data.datasets.home import locate_files
from bagwise.data.formats.matlab import pack_rows, read_prtools


def make_classic_loader(name: str) -> Callable[[], Bags]:
    """Return the function that loads one of the five classical benchmarks."""

    def load() -> Bags:
        (path,) = locate_files(name).values()
        return read_prtools(path)

    return load


def make_extra_loader(name: str) -> Callable[[], Bags]:
    """Return the function that loads a data set of three files: data (features × instances), bagids and labels."""

    def load() -> Bags:
        files = {PurePosixPath(key).stem: path for key, path in locate_files(name).items()}
        bag_ids, labels = (_read_table(files[part])[:, 0].astype(int) for part in ("bagids", "labels"))
        features = _read_table(files["data"]).T
        return pack_rows(np.ascontiguousarray(features), bag_ids, labels, str(files["data"]))

    return load


def load_ucsb_breast() -> Bags:
    """Load the UCSB breast features from a csv file whose columns are the bag's label, its number and 708 features."""
    (path,) = locate_files("ucsb-breast").values()
    table = _read_table(path, delimiter=",")
    return pack_rows(table[:, 2:], table[:, 1].astype(int), table[:, 0].astype(int), str(path))


def _read_table(path: Path, delimiter: str | None = None) -> np.ndarray:
    return np.loadtxt(io.BytesIO(read_content(path)), delimiter=delimiter, ndmin=2)
