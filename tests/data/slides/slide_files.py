"""Slides for tests: a synthetic pyramid whose pixels are known, and a real slide if it is available."""

import functools

import numpy as np
import pytest

from real_data import HOME

REAL = HOME / "slides" / "CMU-1-Small-Region.svs"
needs_real_slide = pytest.mark.skipif(not REAL.is_file(), reason=f"no slides/{REAL.name} in BAGWISE_DATA")

WIDTH, HEIGHT = 2048, 1536
TISSUE = (512, 256, 1536, 1280)  # left, top, right, bottom
PURPLE = (150, 80, 160)


@functools.cache
def painted(seed=0):
    """Return a bright background with a purple square of tissue; noise makes every region unique."""
    noise = np.random.default_rng(seed).integers(0, 16, (HEIGHT, WIDTH, 1))
    picture = np.full((HEIGHT, WIDTH, 3), 228, dtype=np.int64) + noise
    left, top, right, bottom = TISSUE
    picture[top:bottom, left:right] = np.array(PURPLE) + noise[top:bottom, left:right]
    picture = picture.astype(np.uint8)
    picture.flags.writeable = False
    return picture


def downsample(picture, factor):
    """Return the mean over squares of pixels."""
    height, width = picture.shape[0] // factor, picture.shape[1] // factor
    columns = picture[: height * factor, : width * factor].reshape(height, factor, width * factor, 3).sum(axis=1)
    return np.rint(columns.reshape(height, width, factor, 3).sum(axis=2) / factor**2).astype(np.uint8)


def write_pyramid(path, picture=None, mpp=0.25, levels=3, factor=4):
    """Write a tiled TIFF whose levels are downsampled from each other; return the pictures of the levels."""
    tifffile = pytest.importorskip("tifffile")
    picture = painted() if picture is None else picture
    resolution = {} if mpp is None else {"resolution": (1e4 / mpp, 1e4 / mpp), "resolutionunit": "CENTIMETER"}
    pictures = [picture]
    for _ in range(levels - 1):
        pictures.append(downsample(pictures[-1], factor))
    with tifffile.TiffWriter(path) as tiff:
        for level, pixels in enumerate(pictures):
            options = resolution if level == 0 else {"subfiletype": 1}
            tiff.write(pixels, photometric="rgb", tile=(128, 128), metadata=None, **options)
    return pictures
