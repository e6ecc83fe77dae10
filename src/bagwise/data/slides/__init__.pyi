__all__ = [
    "IMAGE_SUFFIXES",
    "SLIDE_SUFFIXES",
    "DeferredExtractor",
    "Slide",
    "TilingSettings",
    "build_extractor",
    "check_bags_folder",
    "check_tiling_settings",
    "extract_features",
    "find_tiles",
    "find_unmatched",
    "get_extractor_name",
    "get_slide_name",
    "list_slides",
    "list_tiles",
    "load_image_bags",
    "pack_features",
    "read_bag_labels",
    "read_image",
    "split_into_regions",
    "tile_to_file",
]

from .bag_labels import find_unmatched, read_bag_labels
from .extraction import DeferredExtractor, extract_features, get_extractor_name, pack_features
from .extractors import build_extractor
from .image_bags import IMAGE_SUFFIXES, load_image_bags, read_image
from .slide import SLIDE_SUFFIXES, Slide, get_slide_name, list_slides
from .slide_tiles import TilingSettings, check_tiling_settings
from .tile_files import check_bags_folder, find_tiles, list_tiles, split_into_regions, tile_to_file
