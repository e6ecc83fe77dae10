"""One image file → its pixels, whatever its format; what is too large or damaged is refused by name."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np

from bagwise.errors import InputError

MODES = ("1", "L", "LA", "P", "PA", "RGB", "RGBA", "RGBX", "CMYK", "YCbCr")  # eight bits a channel


def read_image(path: Path) -> np.ndarray:
    """The pixels of an image as bytes, (height, width, 3); what is transparent shows white."""
    import PIL.Image

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # odd metadata is no reason to refuse an image
            warnings.simplefilter("error", PIL.Image.DecompressionBombWarning)
            with PIL.Image.open(path) as image:
                if image.mode not in MODES:
                    raise InputError(f"{path} has pixels of kind '{image.mode}'; save it with eight bits a channel")
                image.load()
                return np.asarray(_opaque(image))
    except (PIL.Image.DecompressionBombWarning, PIL.Image.DecompressionBombError):
        limit = PIL.Image.MAX_IMAGE_PIXELS or 0
        raise InputError(
            f"{path} has more than {limit:,} pixels; cut it into smaller images, or treat it as a slide (bagwise tile)"
        ) from None
    except InputError:
        raise
    except FileNotFoundError:
        raise InputError(f"{path} does not exist; check the path") from None
    except Exception as error:  # what Pillow raises on damaged files has no common class
        raise InputError(
            f"{path} cannot be read as an image ({error}); restore it from a copy or leave it out"
        ) from None


def _opaque(image: Any) -> Any:
    """RGB; what is transparent shows the white ground."""
    import PIL.Image

    if image.mode in ("LA", "PA", "RGBA") or "transparency" in image.info:
        layer = image.convert("RGBA")
        ground = PIL.Image.new("RGBA", layer.size, "white")
        return PIL.Image.alpha_composite(ground, layer).convert("RGB")
    return image.convert("RGB")
