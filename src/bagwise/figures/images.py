"""Images of instances: conversion to 8-bit images and data URIs, and figures that show them.

``plot_bag_strip`` corresponds to Figure 4, and ``plot_panels`` to Figures 5 and 6, of Ilse et al. (2018).
"""

import base64
import io
from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from PIL import Image

from bagwise.figures.style import BLUE, FAINT, VERMILLION

MAX_SIDE = 112  # pixels; twice the size of images in a page, for high-resolution screens
MAX_EXACT_SIDE = 64  # larger images are encoded with loss
STRIP_GAP = 0.15  # gap between the instances of a strip, relative to the width of an instance
CAPTION_HEIGHT = 0.35  # space below an instance for its weight
TWO_DIGITS_FROM = 0.1  # if the largest weight is at least this, weights have two digits, otherwise four
PATCH_GAP = 0.08  # gap between patches, relative to the width of a patch


def is_image_shape(shape: tuple[int, ...]) -> bool:
    """Return whether instances of this shape are images.

    Parameters
    ----------
    shape : tuple of int
        Shape of one instance.

    Returns
    -------
    bool
        True for (height, width), and for (height, width, channels) with 1 or 3 channels.

    Examples
    --------
    >>> is_image_shape((8, 8)), is_image_shape((27, 27, 3)), is_image_shape((166,))
    (True, True, False)
    """
    return len(shape) == 2 or (len(shape) == 3 and shape[2] in (1, 3))


def to_displayable(instances: np.ndarray) -> np.ndarray:
    """Convert images to 8 bits per channel.

    RGB images of 8 bits are not changed. All other images are rescaled together, from their smallest to their largest
    value, so that their brightness can be compared.

    Parameters
    ----------
    instances : numpy.ndarray of shape (n, height, width) or (n, height, width, channels)
        Images.

    Returns
    -------
    numpy.ndarray of uint8, of shape (n, height, width) or (n, height, width, 3)
    """
    images = instances[..., 0] if instances.ndim == 4 and instances.shape[-1] == 1 else instances
    if images.ndim == 4 and images.dtype == np.uint8:
        return images
    values = images.astype(np.float64)
    low, high = (float(values.min()), float(values.max())) if values.size else (0.0, 0.0)
    return np.rint((values - low) * (255 / (high - low) if high > low else 0)).astype(np.uint8)


def to_data_uri(image: np.ndarray) -> str:
    """Encode an image as a data URI: as PNG if it is small, otherwise as a JPEG of reduced size.

    Parameters
    ----------
    image : numpy.ndarray of uint8, of shape (height, width) or (height, width, 3)
        Image as returned by ``to_displayable``.

    Returns
    -------
    str
        Data URI for the ``src`` attribute of an HTML image.

    Examples
    --------
    >>> to_data_uri(np.zeros((8, 8), dtype=np.uint8))[:22]
    'data:image/png;base64,'
    """
    picture = Image.fromarray(image)
    kind = "png" if max(picture.size) <= MAX_EXACT_SIDE else "jpeg"
    picture.thumbnail((MAX_SIDE, MAX_SIDE))
    stream = io.BytesIO()
    picture.save(stream, format=kind, **({"optimize": True} if kind == "png" else {"quality": 80}))
    return f"data:image/{kind};base64,{base64.b64encode(stream.getvalue()).decode('ascii')}"


def plot_bag_strip(
    axes: Axes, instances: np.ndarray, weights: np.ndarray, key: np.ndarray | None = None, columns: int = 12
) -> Axes:
    """Plot the instances of a bag with their weights, in the given order.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        Axes to plot on.
    instances : numpy.ndarray of shape (n, ...)
        Images or vectors; a vector is shown as a bar whose height is its weight.
    weights : numpy.ndarray of shape (n,)
        Weight of each instance.
    key : numpy.ndarray of bool, of shape (n,), or None, default=None
        Whether each instance is a key instance, which has a thick frame; None means that this is unknown.
    columns : int, default=12
        Number of instances per row.

    Returns
    -------
    matplotlib.axes.Axes
        The same axes.
    """
    n_digits = 2 if weights.max() >= TWO_DIGITS_FROM else 4
    images = to_displayable(instances) if is_image_shape(instances.shape[1:]) else None
    for number, weight in enumerate(weights):
        left = (number % columns) * (1 + STRIP_GAP)
        bottom = -(number // columns) * (1 + STRIP_GAP + CAPTION_HEIGHT)
        if images is None:
            axes.add_patch(Rectangle((left, bottom), 1, float(weight), color=BLUE, linewidth=0))
        else:
            axes.imshow(images[number], extent=(left, left + 1, bottom, bottom + 1), cmap="gray", vmin=0, vmax=255)
        _add_frame(axes, left, bottom, is_key=key is not None and bool(key[number]))
        axes.text(left + 0.5, bottom - 0.06, f"{weight:.{n_digits}f}", ha="center", va="top")
    n_rows = -(-len(weights) // columns)
    right = min(len(weights), columns) * (1 + STRIP_GAP)
    axes.set(
        xlim=(-STRIP_GAP, right),
        ylim=(-(n_rows - 1) * (1 + STRIP_GAP + CAPTION_HEIGHT) - CAPTION_HEIGHT, 1 + STRIP_GAP),
        aspect="equal",
    )
    axes.set_axis_off()
    return axes


def _add_frame(axes: Axes, left: float, bottom: float, is_key: bool) -> None:
    colour, line_width = (VERMILLION, 3.0) if is_key else (FAINT, 0.8)
    axes.add_patch(Rectangle((left, bottom), 1, 1, facecolor="none", edgecolor=colour, linewidth=line_width))


def plot_panels(figure: Figure, pictures: Mapping[str, np.ndarray]) -> Figure:
    """Plot images side by side with their titles.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        Figure to plot on.
    pictures : mapping of str to numpy.ndarray of uint8, of shape (height, width, 3)
        Images by title.

    Returns
    -------
    matplotlib.figure.Figure
        The same figure.

    Examples
    --------
    >>> figure = plot_panels(Figure(), {"(a) image": np.zeros((4, 4, 3), np.uint8)})
    >>> figure.axes[0].get_title()
    '(a) image'
    """
    panels = figure.subplots(1, len(pictures), squeeze=False)[0]
    for axes, (title, picture) in zip(panels, pictures.items(), strict=True):
        axes.imshow(picture)
        axes.set_title(title, parse_math=False)
        axes.set_axis_off()
    return figure


def plot_patches(axes: Axes, rows: Sequence[tuple[str, np.ndarray]], peak: float = 255.0) -> Axes:
    """Plot labelled rows of images of equal size, for example stored patches above their augmentations.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        Axes to plot on.
    rows : sequence of tuple of (str, numpy.ndarray of shape (n, height, width) or (n, height, width, 3))
        Label and images of each row; rows may differ in height and width.
    peak : float, default=255.0
        Value of white; values are clipped to the range from 0 to ``peak``.

    Returns
    -------
    matplotlib.axes.Axes
        The same axes.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> stored = np.zeros((5, 27, 27, 3), dtype=np.uint8)
    >>> axes = plot_patches(Figure().subplots(), [("stored", stored), ("brighter", stored + 40.0)])
    >>> [label.get_text() for label in axes.get_yticklabels()]
    ['stored', 'brighter']
    """
    for number, (_, images) in enumerate(rows):
        for column, image in enumerate(np.clip(images / peak, 0, 1)):
            left, bottom = column * (1 + PATCH_GAP), -number * (1 + PATCH_GAP)
            axes.imshow(image, extent=(left, left + 1, bottom, bottom + 1), cmap="gray", vmin=0, vmax=1)
    n_columns = max(len(images) for _, images in rows)
    axes.set(
        xlim=(-PATCH_GAP, n_columns * (1 + PATCH_GAP)),
        ylim=(-(len(rows) - 1) * (1 + PATCH_GAP) - PATCH_GAP, 1 + PATCH_GAP),
        aspect="equal",
    )
    centres = 0.5 - np.arange(len(rows)) * (1 + PATCH_GAP)
    axes.set_yticks(centres, [label for label, _ in rows], parse_math=False)
    axes.set_xticks([])
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    return axes
