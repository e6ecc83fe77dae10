"""An image file → an array of pixels."""

import warnings
from pathlib import Path

import numpy as np

from bagwise.errors import InputError
from bagwise.formats.blaming import blaming


def read_image(path: Path, width: int, height: int) -> np.ndarray:
    """The (height, width, 3) pixels of an image, whose size is known beforehand: another is refused before decoding."""
    from PIL import Image

    with warnings.catch_warnings(), blaming(path, "cannot be read as an image", "fetch or copy it again"):
        warnings.simplefilter("ignore")  # what Pillow finds odd in a damaged file; its size is what counts
        warnings.simplefilter("error", Image.DecompressionBombWarning)
        with Image.open(path) as image:
            if image.size != (width, height):
                found = "×".join(map(str, image.size))
                raise InputError(f"{path} is {found} pixels instead of {width}×{height}; fetch or copy it again")
            return np.asarray(image.convert("RGB"))
