__all__ = [
    "get_parts_folder",
    "import_features",
    "import_shared",
    "open_feature_folder",
    "read_slide_labels",
    "read_table",
    "read_tensors",
]

from .detection import open_feature_folder
from .feature_import import import_features
from .shared_import import get_parts_folder, import_shared
from .slide_labels import read_slide_labels
from .tables import read_table
from .tensors import read_tensors
