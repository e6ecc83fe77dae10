__all__ = [
    "CENSORSHIP",
    "COMMON_COLUMNS",
    "ENDINGS",
    "EVENT",
    "FEATURES",
    "IMAGES",
    "KIND",
    "LABEL",
    "LABEL_PREFIX",
    "SLIDES",
    "TIME",
    "BagWriter",
    "Bags",
    "Folds",
    "LabelNames",
    "RowView",
    "align_features",
    "choose_label_columns",
    "compute_offsets",
    "compute_signatures",
    "fingerprint_bags",
    "hold_out",
    "list_candidates",
    "load_bags",
    "make_inner_folds",
    "make_stratified_folds",
    "make_survival_labels",
    "name_bag",
    "names_an_instance",
    "parse_event",
    "read_empty_bags",
    "read_split_file",
    "save_bags",
    "split_labels",
    "strip_slide_name",
]

from .arrays import compute_offsets
from .bag_writer import KIND, BagWriter
from .bags import Bags
from .checks import name_bag
from .feature_names import align_features
from .fingerprint import compute_signatures, fingerprint_bags
from .folder import load_bags, read_empty_bags, save_bags
from .frames import COMMON_COLUMNS, list_candidates, names_an_instance
from .labels import (
    CENSORSHIP,
    EVENT,
    LABEL,
    LABEL_PREFIX,
    TIME,
    LabelNames,
    choose_label_columns,
    make_survival_labels,
    parse_event,
    split_labels,
)
from .row_views import RowView
from .split_files import ENDINGS, FEATURES, IMAGES, SLIDES, read_split_file, strip_slide_name
from .splitting import Folds, hold_out, make_inner_folds, make_stratified_folds
