__all__ = [
    "import_features",
    "import_shared",
    "open_feature_folder",
    "parts_folder",
    "read_slide_labels",
    "read_table",
    "read_tensors",
]

from .detection import open_feature_folder
from .feature_import import import_features
from .shared_import import import_shared, parts_folder
from .slide_labels import read_slide_labels
from .tables import read_table
from .tensors import read_tensors
