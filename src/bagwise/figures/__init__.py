"""Figures: arrays and an Axes in, Axes out; no files, no model."""

from bagwise.figures.bag_strip import draw_bag_strip
from bagwise.figures.beside import draw_dots_beside, draw_lines_beside
from bagwise.figures.box_plot import draw_box_plot
from bagwise.figures.calibration import draw_calibration
from bagwise.figures.confusion import draw_confusion
from bagwise.figures.learning_curves import draw_learning_curves
from bagwise.figures.panels import draw_panels
from bagwise.figures.patches import draw_patches
from bagwise.figures.pictures import data_uri, displayable, is_picture
from bagwise.figures.precision_recall import draw_precision_recall
from bagwise.figures.probability_histogram import draw_probability_histogram
from bagwise.figures.removal_curves import draw_removal_curves
from bagwise.figures.roc import draw_roc
from bagwise.figures.style import styled
from bagwise.figures.svg import svg_text

__all__ = [
    "data_uri",
    "displayable",
    "draw_bag_strip",
    "draw_box_plot",
    "draw_calibration",
    "draw_confusion",
    "draw_dots_beside",
    "draw_learning_curves",
    "draw_lines_beside",
    "draw_panels",
    "draw_patches",
    "draw_precision_recall",
    "draw_probability_histogram",
    "draw_removal_curves",
    "draw_roc",
    "is_picture",
    "styled",
    "svg_text",
]
