"""A whole-slide image, read with OpenSlide: its size, its resolution, and regions at any resolution.

Positions are (x, y) in level-0 pixels; only this module handles the levels of the pyramid.
"""

import math
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import UInt8

from bagwise.errors import InputError
from bagwise.io import check_declared_size, check_file_exists, check_openslide

SLIDE_SUFFIXES = (".svs", ".tif", ".tiff", ".ndpi", ".mrxs", ".scn", ".vms", ".vmu", ".bif", ".svslide", ".czi")
MULTIPLE_FILES = (".mrxs", ".vms", ".vmu")  # the pixels are stored in other files
MAX_BLOCK = 1 << 28  # pixels per stored block; most slides have blocks of 2¹⁶ pixels
MPP_RANGE = (0.02, 20.0)  # micrometres per pixel of a microscope; 72 dots per inch would be 353
MAX_READ = 2048  # side of the squares in which an overview is read, because a slide may not fit in memory
ROUNDING = 0.51  # largest difference in pixels between a region and the pixels of a level that are read unchanged
SAME_RESOLUTION = 1.02  # resolutions that differ by less than this factor are not resampled


class Slide:
    """An open slide, which is a context manager.

    Parameters
    ----------
    path : str or Path
        The slide file.
    mpp : float or None, default=None
        Micrometres per pixel at level 0; None reads it from the file.

    Attributes
    ----------
    path : Path
        The slide file.
    width, height : int
        Size in level-0 pixels.
    downsamples : tuple of float
        Downsampling factor of each level.
    mpp : float or None
        Micrometres per pixel at level 0; None if it is neither given nor in the file.
    """

    def __init__(self, path: str | Path, mpp: float | None = None) -> None:
        self.path = Path(path)
        self._handle = _open(self.path)
        self.width, self.height = (int(side) for side in self._handle.dimensions)
        self.downsamples = tuple(float(factor) for factor in self._handle.level_downsamples)
        self._check_declared_sizes()
        self.mpp = self._read_mpp() if mpp is None else mpp

    def _check_declared_sizes(self) -> None:
        """Raise an error for implausible sizes, with which OpenSlide would abort the process or read for days."""
        if self.path.suffix.lower() not in MULTIPLE_FILES:
            check_declared_size(self.path, self.width * self.height * 3, self.path.stat().st_size, "pixels")
        for level in range(len(self.downsamples)):
            sides = [
                self._handle.properties.get(f"openslide.level[{level}].tile-{side}") for side in ("width", "height")
            ]
            if None not in sides and math.prod(int(side) for side in sides) > MAX_BLOCK:
                raise InputError(
                    f"{self.path} is damaged: it declares blocks of {'×'.join(sides)} pixels; copy it again"
                )

    def _read_mpp(self) -> float | None:
        values = [self._handle.properties.get(f"openslide.mpp-{axis}") for axis in "xy"]
        try:
            stated = [float(value) for value in values if value is not None]
        except ValueError:
            return None
        return sum(stated) / len(stated) if stated and all(is_plausible_mpp(value) for value in stated) else None

    def __enter__(self) -> "Slide":
        return self

    def __exit__(self, *error: object) -> None:
        self._handle.close()

    def require_mpp(self) -> float:
        """Return the micrometres per pixel at level 0.

        Returns
        -------
        float

        Raises
        ------
        InputError
            If the resolution is neither given nor in the file.
        """
        if self.mpp is None:
            raise InputError(
                f"{self.path} does not state its resolution; pass --slide-mpp with its micrometres per pixel "
                "(--slide-mpp 0.25 for most 40× scans, --slide-mpp 0.5 for 20×), or --level 0 for tiles in the pixels "
                "of the slide"
            )
        return self.mpp

    def read(self, x: int, y: int, extent: int, size: int) -> UInt8[np.ndarray, "size size 3"]:
        """Read a square region; pixels beyond the slide are white.

        Parameters
        ----------
        x, y : int
            Upper left corner in level-0 pixels.
        extent : int
            Side of the region in level-0 pixels.
        size : int
            Side of the result in pixels.

        Returns
        -------
        ndarray of uint8 of shape (size, size, 3)
        """
        return self._read_region(x, y, (extent, extent), (size, size))

    def overview(self, scale: int) -> UInt8[np.ndarray, "height width 3"]:
        """Read the whole slide at a low resolution.

        Parameters
        ----------
        scale : int
            Level-0 pixels per pixel, along one side; pixels that would not be complete are left out.

        Returns
        -------
        ndarray of uint8 of shape (height, width, 3)
        """
        width, height = max(1, self.width // scale), max(1, self.height // scale)
        picture = np.empty((height, width, 3), dtype=np.uint8)
        step = max(1, int(MAX_READ * self.downsamples[self._choose_level(scale)] / scale))
        for top in range(0, height, step):
            for left in range(0, width, step):
                across, down = min(step, width - left), min(step, height - top)
                block = self._read_region(left * scale, top * scale, (across * scale, down * scale), (across, down))
                picture[top : top + down, left : left + across] = block
        return picture

    def _read_region(self, x: int, y: int, extent: tuple[int, int], size: tuple[int, int]) -> np.ndarray:
        import PIL.Image

        level = self._choose_level(extent[0] / size[0])
        box = (extent[0] / self.downsamples[level], extent[1] / self.downsamples[level])
        if all(abs(side - wanted) <= ROUNDING for side, wanted in zip(box, size, strict=True)):
            box = size  # the downsample of a level may be 4.0003 instead of 4: use its pixels unchanged
        try:
            region = self._handle.read_region((x, y), level, (math.ceil(box[0]), math.ceil(box[1])))
        except Exception as error:  # the class of OpenSlide's errors is in an optional package
            raise InputError(f"{self.path} cannot be read at ({x}, {y}): {error}; restore it from a copy") from None
        background = PIL.Image.new("RGBA", region.size, "white")
        picture = PIL.Image.alpha_composite(background, region).convert("RGB")
        if picture.size != size:
            picture = picture.resize(size, PIL.Image.Resampling.BOX, box=(0, 0, *box))
        return np.asarray(picture)

    def _choose_level(self, downsample: float) -> int:
        """Return the coarsest level that is at least as fine as wanted."""
        fine = [level for level, factor in enumerate(self.downsamples) if factor <= downsample * SAME_RESOLUTION]
        return max(fine, key=lambda level: self.downsamples[level], default=0)


def _open(path: Path) -> Any:
    check_openslide()
    import openslide

    check_file_exists(path, "pass slides or a folder of slides")
    try:
        return openslide.OpenSlide(path)
    except openslide.OpenSlideError as error:
        raise InputError(
            f"{path} is not a slide that OpenSlide can read ({error or 'unknown format'}); restore it from a copy"
        ) from None


def is_plausible_mpp(mpp: float) -> bool:
    """Return whether a microscope could have this resolution.

    >>> is_plausible_mpp(0.25), is_plausible_mpp(352.8)
    (True, False)
    """
    return MPP_RANGE[0] <= mpp <= MPP_RANGE[1]


def are_same_resolution(first: float, second: float) -> bool:
    """Return whether two resolutions differ by at most 2 %."""
    return max(first, second) <= SAME_RESOLUTION * min(first, second)


def get_slide_name(file: str | Path) -> str:
    """Return the name of a slide, which is its file name without the suffix of a slide format.

    Parameters
    ----------
    file : str or Path
        Path or file name of the slide.

    Returns
    -------
    str

    Examples
    --------
    >>> get_slide_name("TCGA-1.2.svs"), get_slide_name("TCGA-1.2")
    ('TCGA-1.2', 'TCGA-1.2')
    """
    path = Path(file)
    return path.stem if path.suffix.lower() in SLIDE_SUFFIXES else path.name


def list_slides(sources: list[Path]) -> list[Path]:
    """List the slides in files and folders.

    Parameters
    ----------
    sources : list of Path
        Slides, and folders that are searched with their subfolders.

    Returns
    -------
    list of Path
        Slides with unique names.

    Raises
    ------
    InputError
        If a source does not exist, two slides have the same name, or there are no slides.
    """
    slides: dict[str, Path] = {}
    for source in sources:
        if not source.exists():
            raise InputError(f"no such file or folder: {source}; pass slides or a folder of slides")
        inside = [file for file in sorted(source.rglob("*")) if _is_slide(file)]
        for slide in inside if source.is_dir() else [source]:
            if slides.setdefault(slide.stem, slide).resolve() != slide.resolve():
                raise InputError(f"{slides[slide.stem]} and {slide} have the same name; rename one of them")
    if not slides:
        raise InputError(f"{sources[0]} contains no slides ({', '.join(SLIDE_SUFFIXES)}); check the path")
    return list(slides.values())


def _is_slide(file: Path) -> bool:
    """Return whether a name is that of a slide and not hidden; broken links are kept, and reported when opened."""
    return file.suffix.lower() in SLIDE_SUFFIXES and not file.name.startswith(".") and not file.is_dir()
