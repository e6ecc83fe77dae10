"""Colon cancer (CRCHistoPhenotypes): 100 images of 500×500 pixels, a 27×27 patch around each of 22,444 marked nuclei.

A bag is positive if it contains an epithelial nucleus; instance labels are 1 for epithelial nuclei. The coordinates of
the marks are 1-based, as in MATLAB: the mean of all patches is symmetric around the mark only if 1 is subtracted. The
0-based pixel of a mark x is therefore ⌊x − ½⌋. Patches that would cross the border of the image are moved inward.

Augmentation can shift a nucleus only if there are pixels around its patch. ``margin`` adds this many pixels on each
side, mirrored at the border of the image; the central 27×27 pixels are the patch without a margin.
"""

import warnings
from pathlib import Path, PurePosixPath

import numpy as np

from bagwise.bags import Bags
from bagwise.data.datasets.home import locate_files
from bagwise.data.formats.matlab import read_matlab
from bagwise.errors import InputError, translate_errors

IMAGE_SIZE = 500
PATCH_SIZE = 27
MAX_MARGIN = PATCH_SIZE
CLASSES = ("epithelial", "fibroblast", "inflammatory", "others")


def load_colon(margin: int = 0) -> Bags:
    """Load the colon cancer images as bags of RGB patches (uint8), named img1 … img100.

    Parameters
    ----------
    margin : int, default=0
        Number of pixels to add on each side of a patch, from 0 to 27.

    Returns
    -------
    Bags
        One bag per image. The nuclei of an image are ordered row by row, so that their order does not reveal their
        class. Positions are the upper left corners of the patches; positions and tile sizes are those of the central
        27×27 pixels, whatever the margin.
    """
    if not 0 <= margin <= MAX_MARGIN:
        raise InputError(f"margin must be from 0 to {MAX_MARGIN} pixels, got {margin}")
    files = locate_files("colon-cancer")
    images = [key for key in files if not key.endswith(".mat")]
    patches, positions, epithelial = [], [], []
    for key in images:
        marks, is_epithelial = _read_nuclei({name: files[f"{key}_{name}.mat"] for name in CLASSES})
        corners = compute_corners(marks)
        order = np.lexsort((corners[:, 0], corners[:, 1]))
        patches.append(_cut_patches(read_image_of_size(files[key], IMAGE_SIZE, IMAGE_SIZE), corners[order], margin))
        positions.append(corners[order])
        epithelial.append(is_epithelial[order])
    return Bags.from_list(
        patches,
        labels=[int(labels.any()) for labels in epithelial],
        names=[PurePosixPath(key).name for key in images],
        positions=np.concatenate(positions),
        instance_labels=np.concatenate(epithelial),
        tile_sizes=[PATCH_SIZE] * len(images),
    )


def compute_corners(marks: np.ndarray) -> np.ndarray:
    """Return the upper left corners (x, y) of the patches around marks.

    >>> compute_corners(np.array([[1.0, 500.0], [100.4, 100.6]])).tolist()
    [[0, 473], [86, 87]]
    """
    return np.clip(np.floor(marks - 0.5).astype(int) - PATCH_SIZE // 2, 0, IMAGE_SIZE - PATCH_SIZE)


def read_image_of_size(path: Path, width: int, height: int) -> np.ndarray:
    """Return the (height, width, 3) pixels of an image; an image of another size is rejected before it is decoded."""
    from PIL import Image

    with warnings.catch_warnings(), translate_errors(path, "cannot be read as an image", "fetch or copy it again"):
        warnings.simplefilter("ignore")  # Pillow warns about unusual metadata; only the size matters
        warnings.simplefilter("error", Image.DecompressionBombWarning)
        with Image.open(path) as image:
            if image.size != (width, height):
                size = "×".join(map(str, image.size))
                raise InputError(f"{path} has {size} pixels instead of {width}×{height}; fetch or copy it again")
            return np.asarray(image.convert("RGB"))


def _read_nuclei(files: dict[str, Path]) -> tuple[np.ndarray, np.ndarray]:
    """Return the marks of all nuclei of an image, and which of them are epithelial."""
    marks = [_read_marks(path) for path in files.values()]
    classes = [np.full(len(found), int(name == CLASSES[0])) for name, found in zip(files, marks, strict=True)]
    return np.concatenate(marks), np.concatenate(classes)


def _read_marks(path: Path) -> np.ndarray:
    """Return the marks as floats of shape (n, 2): many files store uint8, in which x − 13 would wrap around."""
    marks = np.asarray(read_matlab(path, "detection"))
    if marks.ndim != 2 or marks.shape[1] != 2 or marks.dtype.kind not in "fui":
        raise InputError(
            f"{path}: detection must be numbers of shape (n, 2), got {marks.dtype} of shape {marks.shape}; "
            "fetch it again with: bagwise data fetch colon-cancer --from FOLDER_OR_URL"
        )
    marks = marks.astype(float)
    if not ((marks >= 0) & (marks <= IMAGE_SIZE + 0.5)).all():
        raise InputError(
            f"{path}: a nucleus is outside the image; "
            "fetch it again with: bagwise data fetch colon-cancer --from FOLDER_OR_URL"
        )
    return marks


def _cut_patches(image: np.ndarray, corners: np.ndarray, margin: int) -> np.ndarray:
    """Return the patches at these corners, each with a margin around it."""
    padded = np.pad(image, ((margin, margin), (margin, margin), (0, 0)), mode="reflect")
    size = PATCH_SIZE + 2 * margin
    windows = np.lib.stride_tricks.sliding_window_view(padded, (size, size), axis=(0, 1))
    return np.moveaxis(windows[corners[:, 1], corners[:, 0]], 1, -1)
