__all__ = [
    "get_labels",
    "open_source",
    "resolve_data_path",
]

from .sources import get_labels, open_source, resolve_data_path
