"""Data sets by name: each file builds Bags from one source."""

from bagwise.datasets.catalogue import DATASETS, DataSet, full_name, load_dataset
from bagwise.datasets.catalogue import load_dataset as load
from bagwise.datasets.fetching import Fetched, fetch
from bagwise.datasets.home import data_home, is_there
from bagwise.datasets.progress import Progress, ProgressBar

__all__ = [
    "DATASETS",
    "DataSet",
    "Fetched",
    "Progress",
    "ProgressBar",
    "data_home",
    "fetch",
    "full_name",
    "is_there",
    "load",
    "load_dataset",
]
