__all__ = [
    "DATASETS",
    "ORIGINS",
    "DataSet",
    "DownloadProgress",
    "DownloadProgressBar",
    "FetchResult",
    "describe_bags",
    "fetch_dataset",
    "get_data_home",
    "is_fetched",
    "load_dataset",
    "locate_files",
    "resolve_dataset_name",
]

from .download import DownloadProgress, DownloadProgressBar
from .fetch import FetchResult, fetch_dataset
from .home import get_data_home, is_fetched, locate_files
from .origins import ORIGINS
from .registry import DATASETS, DataSet, describe_bags, load_dataset, resolve_dataset_name
