__all__ = [
    "ENDINGS",
    "FEATURES",
    "IMAGES",
    "KIND",
    "SLIDES",
    "BagWriter",
    "Bags",
    "RowView",
    "compute_offsets",
    "fingerprint_bags",
    "hold_out",
    "load_bags",
    "make_stratified_folds",
    "name_bag",
    "read_empty_bags",
    "read_split_file",
    "save_bags",
    "strip_slide_name",
]

from .arrays import compute_offsets
from .bags import Bags
from .checks import name_bag
from .fingerprint import fingerprint_bags
from .folder import KIND, BagWriter, load_bags, read_empty_bags, save_bags
from .row_views import RowView
from .split_files import ENDINGS, FEATURES, IMAGES, SLIDES, read_split_file, strip_slide_name
from .splitting import hold_out, make_stratified_folds
