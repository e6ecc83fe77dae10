"""Instances that are images, made fit to be seen: grey or RGB bytes, and those as text for a page."""

import base64
import io

import numpy as np
from PIL import Image

LARGEST_SIDE = 112  # twice the size at which a page shows them, for fine screens
LARGEST_EXACT = 64  # up to this side every pixel is kept


def is_picture(shape: tuple[int, ...]) -> bool:
    """Whether instances of this shape are images: (height, width), or (height, width, 1 or 3 channels).

    >>> is_picture((8, 8)), is_picture((27, 27, 3)), is_picture((166,))
    (True, True, False)
    """
    return len(shape) == 2 or (len(shape) == 3 and shape[2] in (1, 3))


def displayable(instances: np.ndarray) -> np.ndarray:
    """Images as bytes, (n, height, width) or (n, height, width, 3).

    RGB bytes stay as they are; all else is stretched together, from the least value to the greatest, so that the
    brightness of one image can be compared with that of another.
    """
    images = instances[..., 0] if instances.ndim == 4 and instances.shape[-1] == 1 else instances
    if images.ndim == 4 and images.dtype == np.uint8:
        return images
    values = images.astype(np.float64)
    low, high = (float(values.min()), float(values.max())) if values.size else (0.0, 0.0)
    return np.rint((values - low) * (255 / (high - low) if high > low else 0)).astype(np.uint8)


def data_uri(picture: np.ndarray) -> str:
    """One displayable image as a data URI: PNG as long as it is small, else a JPEG of its reduction.

    >>> data_uri(np.zeros((8, 8), dtype=np.uint8))[:22]
    'data:image/png;base64,'
    """
    image = Image.fromarray(picture)
    kind = "png" if max(image.size) <= LARGEST_EXACT else "jpeg"
    image.thumbnail((LARGEST_SIDE, LARGEST_SIDE))
    stream = io.BytesIO()
    image.save(stream, format=kind, **({"optimize": True} if kind == "png" else {"quality": 80}))
    return f"data:image/{kind};base64,{base64.b64encode(stream.getvalue()).decode('ascii')}"
