"""Data sets by name: each file builds Bags from one source."""

from bagwise.datasets.catalogue import DATASETS, DataSet, load_dataset

__all__ = ["DATASETS", "DataSet", "load_dataset"]
