"""Colon cancer (CRCHistoPhenotypes): 100 images of 500×500 pixels, a 27×27 patch around each of 22,444 marked nuclei.

A bag is positive if it has an epithelial nucleus; the instance label says which are. Marks count pixels from 1, as
MATLAB does: the mean of all patches is symmetric around the mark only if 1 is taken away. So the pixel of a mark x is
⌊x − ½⌋, counted from 0. Patches that would reach over the border are slid inward.

A nucleus can be moved in training only if there is something around its patch: ``margin`` cuts so many more pixels on
each side, mirrored where the image ends, so that the middle 27×27 are the patch as it is without a margin.
"""

from pathlib import Path, PurePosixPath

import numpy as np

from bagwise.bags import Bags
from bagwise.datasets.home import locate
from bagwise.datasets.images import read_image
from bagwise.errors import InputError
from bagwise.formats.prtools import read_matlab

SIDE = 500
PATCH = 27
MOST_MARGIN = PATCH
CLASSES = ("epithelial", "fibroblast", "inflammatory", "others")


def load(margin: int = 0) -> Bags:
    """Bags of RGB patches as bytes, named img1 … img100; positions are the patches' upper left corners.

    The nuclei of an image come row by row, so that their order tells nothing of their class. Positions and tile sizes
    are those of the middle 27×27 pixels, whatever the margin.
    """
    if not 0 <= margin <= MOST_MARGIN:
        raise InputError(f"margin is {margin}; give from 0 to {MOST_MARGIN} pixels")
    files = locate("colon-cancer")
    images = [key for key in files if not key.endswith(".mat")]
    bags, corners, epithelial = [], [], []
    for key in images:
        marks, classes = _nuclei({name: files[f"{key}_{name}.mat"] for name in CLASSES})
        found = upper_left(marks)
        order = np.lexsort((found[:, 0], found[:, 1]))
        bags.append(_patches(read_image(files[key], SIDE, SIDE), found[order], margin))
        corners.append(found[order])
        epithelial.append(classes[order])
    return Bags.from_list(
        bags,
        labels=[int(inside.any()) for inside in epithelial],
        names=[PurePosixPath(key).name for key in images],
        positions=np.concatenate(corners),
        instance_labels=np.concatenate(epithelial),
        tile_sizes=[PATCH] * len(images),
    )


def upper_left(marks: np.ndarray) -> np.ndarray:
    """The upper left corners (x, y) of the patches around marks.

    >>> upper_left(np.array([[1.0, 500.0], [100.4, 100.6]])).tolist()
    [[0, 473], [86, 87]]
    """
    return np.clip(np.floor(marks - 0.5).astype(int) - PATCH // 2, 0, SIDE - PATCH)


def _nuclei(files: dict[str, Path]) -> tuple[np.ndarray, np.ndarray]:
    """The marks of all nuclei of an image, and which are epithelial."""
    marks = [_marks(path) for path in files.values()]
    classes = [np.full(len(found), int(name == CLASSES[0])) for name, found in zip(files, marks, strict=True)]
    return np.concatenate(marks), np.concatenate(classes)


def _marks(path: Path) -> np.ndarray:
    """(n, 2) marks as floats: many files hold bytes, in which x − 13 would wrap around."""
    marks = np.asarray(read_matlab(path, "detection"))
    if marks.ndim != 2 or marks.shape[1] != 2 or marks.dtype.kind not in "fui":
        raise InputError(f"{path}: detection has shape {marks.shape} instead of (n, 2); fetch colon-cancer again")
    marks = marks.astype(float)
    if not ((marks >= 0) & (marks <= SIDE + 0.5)).all():
        raise InputError(f"{path}: a nucleus lies outside the image; fetch colon-cancer again")
    return marks


def _patches(image: np.ndarray, corners: np.ndarray, margin: int) -> np.ndarray:
    """The patches at these corners, each with a margin around it."""
    wide = np.pad(image, ((margin, margin), (margin, margin), (0, 0)), mode="reflect")
    side = PATCH + 2 * margin
    windows = np.lib.stride_tricks.sliding_window_view(wide, (side, side), axis=(0, 1))
    return np.moveaxis(windows[corners[:, 1], corners[:, 0]], 1, -1)
