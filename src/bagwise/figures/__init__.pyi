__all__ = [
    "COLOUR_MAP",
    "figure_to_svg",
    "is_image_shape",
    "plot_bag_strip",
    "plot_boxes",
    "plot_calibration",
    "plot_confusion",
    "plot_learning_curves",
    "plot_paired_dots",
    "plot_paired_lines",
    "plot_panels",
    "plot_patches",
    "plot_precision_recall",
    "plot_probability_histogram",
    "plot_removal_curves",
    "plot_roc",
    "shorten_text",
    "to_data_uri",
    "to_displayable",
    "use_style",
]

from .comparison_plots import plot_boxes, plot_paired_dots, plot_paired_lines
from .curve_plots import plot_learning_curves, plot_precision_recall, plot_removal_curves, plot_roc
from .images import is_image_shape, plot_bag_strip, plot_panels, plot_patches, to_data_uri, to_displayable
from .prediction_plots import plot_calibration, plot_confusion, plot_probability_histogram
from .style import COLOUR_MAP, shorten_text, use_style
from .svg import figure_to_svg
