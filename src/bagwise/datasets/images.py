"""An image file → an array of pixels."""

import warnings
from pathlib import Path

import numpy as np

from bagwise.errors import InputError


def read_image(path: Path, width: int, height: int) -> np.ndarray:
    """The (height, width, 3) pixels of an image, whose size is known beforehand: another is refused before decoding."""
    from PIL import Image, UnidentifiedImageError

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(path) as image:
                if image.size != (width, height):
                    found = "×".join(map(str, image.size))
                    raise InputError(f"{path} is {found} pixels instead of {width}×{height}; fetch or copy it again")
                return np.asarray(image.convert("RGB"))
    except (
        UnidentifiedImageError,
        Image.DecompressionBombError,
        Image.DecompressionBombWarning,
        OSError,
        SyntaxError,
    ) as error:
        raise InputError(f"{path} cannot be read as an image ({error}); fetch or copy it again") from None
