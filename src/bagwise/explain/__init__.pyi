__all__ = [
    "LAYERS",
    "BagLayers",
    "BoundedCache",
    "DeletionCurves",
    "Explanation",
    "ExplanationSettings",
    "Feature",
    "ReferenceModel",
    "Trust",
    "assess_trust",
    "compute_deletion_curves",
    "compute_effective_number",
    "explain_bags",
    "find_pictures",
    "make_instance_rows",
    "make_map_layer",
    "make_overview_rows",
    "open_bag_background",
    "read_geojson",
    "render_panels",
    "save_panels",
    "tiles_to_geojson",
    "to_geojson",
    "write_explanation",
    "write_geojson",
]

from .attribution import Explanation
from .bag import ExplanationSettings, ReferenceModel, write_explanation
from .bag_files import make_instance_rows, save_panels, tiles_to_geojson
from .deletion import DeletionCurves, compute_deletion_curves
from .explanation import explain_bags
from .geojson import Feature, read_geojson, to_geojson, write_geojson
from .layers import LAYERS, BagLayers, BoundedCache, make_map_layer
from .panels import find_pictures, open_bag_background, render_panels
from .trust import Trust, assess_trust, compute_effective_number, make_overview_rows
