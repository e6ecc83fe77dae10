"""A whole slide: its size, its resolution, and regions of it at any resolution, read through OpenSlide.

Positions are (x, y) in level-0 pixels everywhere; only this file knows the levels of a slide's pyramid.
"""

import math
from pathlib import Path
from typing import Any

import numpy as np

from bagwise.errors import InputError
from bagwise.formats.claims import check_claim
from bagwise.slides.packages import check_openslide

SUFFIXES = (".svs", ".tif", ".tiff", ".ndpi", ".mrxs", ".scn", ".vms", ".vmu", ".bif", ".svslide", ".czi")
MANY_FILES = (".mrxs", ".vms", ".vmu")  # the pixels lie in other files beside
SIDES = ("width", "height")
LARGEST_BLOCK = 1 << 28  # pixels that a slide stores in one piece; most have 2¹⁶
PLAUSIBLE = (0.02, 20.0)  # micrometres a pixel of a microscope; 72 dots an inch would be 353
READ_AT_ONCE = 2048  # side of the largest square read for an overview, so that no slide must fit into memory
ROUNDING = 0.51  # pixels by which a region may differ from whole pixels of a level and still be them
NEAR = 1.02  # a resolution this near to a level's own is taken from that level, pixel by pixel


class Slide:
    """An open slide; use it in a ``with`` block.

    mpp : micrometres a pixel at level 0, as the file states it or as given here; None if nobody says
    """

    def __init__(self, path: str | Path, mpp: float | None = None) -> None:
        self.path = Path(path)
        self._handle = _open(self.path)
        self.width, self.height = (int(side) for side in self._handle.dimensions)
        self.downsamples = tuple(float(factor) for factor in self._handle.level_downsamples)
        self._check_claims()
        self.mpp = self._stated_mpp() if mpp is None else mpp

    def _check_claims(self) -> None:
        """Refuse sizes that only damage can explain: OpenSlide would end the process, or read for days."""
        if self.path.suffix.lower() not in MANY_FILES:
            check_claim(self.path, self.width * self.height * 3, self.path.stat().st_size, "pixels")
        for level in range(len(self.downsamples)):
            sides = [self._handle.properties.get(f"openslide.level[{level}].tile-{side}") for side in SIDES]
            if None not in sides and math.prod(int(side) for side in sides) > LARGEST_BLOCK:
                raise InputError(f"{self.path} is damaged: it claims blocks of {'×'.join(sides)} pixels; copy it again")

    def __enter__(self) -> "Slide":
        return self

    def __exit__(self, *error: object) -> None:
        self._handle.close()

    def known_mpp(self) -> float:
        """Micrometres a pixel at level 0; refused when neither the file nor the user says."""
        if self.mpp is None:
            raise InputError(
                f"{self.path} does not state its resolution; pass --slide-mpp with its micrometres a pixel "
                "(0.25 for most 40× scans, 0.5 for 20×), or --level 0 for tiles in the slide's own pixels"
            )
        return self.mpp

    def read(self, x: int, y: int, extent: int, size: int) -> np.ndarray:
        """The square of ``extent`` level-0 pixels at (x, y) as (size, size, 3) bytes; beyond the slide it is white."""
        return self._read(x, y, (extent, extent), (size, size))

    def overview(self, scale: int) -> np.ndarray:
        """The whole slide with one pixel for each whole square of ``scale`` level-0 pixels, read in pieces."""
        width, height = max(1, self.width // scale), max(1, self.height // scale)
        picture = np.empty((height, width, 3), dtype=np.uint8)
        step = max(1, int(READ_AT_ONCE * self.downsamples[self._level(scale)] / scale))
        for top in range(0, height, step):
            for left in range(0, width, step):
                across, down = min(step, width - left), min(step, height - top)
                piece = self._read(left * scale, top * scale, (across * scale, down * scale), (across, down))
                picture[top : top + down, left : left + across] = piece
        return picture

    def _read(self, x: int, y: int, extent: tuple[int, int], size: tuple[int, int]) -> np.ndarray:
        import PIL.Image

        level = self._level(extent[0] / size[0])
        box = (extent[0] / self.downsamples[level], extent[1] / self.downsamples[level])
        if all(abs(side - wanted) <= ROUNDING for side, wanted in zip(box, size, strict=True)):
            box = size  # extents are whole numbers, a level's downsample may be 4.0003: take its pixels as they are
        try:
            region = self._handle.read_region((x, y), level, (math.ceil(box[0]), math.ceil(box[1])))
        except Exception as error:  # OpenSlide's own errors, whose class needs the optional import
            raise InputError(f"{self.path} cannot be read at ({x}, {y}): {error}; restore it from a copy") from None
        ground = PIL.Image.new("RGBA", region.size, "white")
        picture = PIL.Image.alpha_composite(ground, region).convert("RGB")
        if picture.size != size:
            picture = picture.resize(size, PIL.Image.Resampling.BOX, box=(0, 0, *box))
        return np.asarray(picture)

    def _level(self, downsample: float) -> int:
        """The coarsest level that is still at least as fine as wanted."""
        fine = [level for level, factor in enumerate(self.downsamples) if factor <= downsample * NEAR]
        return max(fine, key=lambda level: self.downsamples[level], default=0)

    def _stated_mpp(self) -> float | None:
        values = [self._handle.properties.get(f"openslide.mpp-{axis}") for axis in "xy"]
        try:
            stated = [float(value) for value in values if value is not None]
        except ValueError:
            return None
        return sum(stated) / len(stated) if stated and all(is_plausible(value) for value in stated) else None


def is_plausible(mpp: float) -> bool:
    """Whether a microscope could have this many micrometres a pixel.

    >>> is_plausible(0.25), is_plausible(352.8)
    (True, False)
    """
    return PLAUSIBLE[0] <= mpp <= PLAUSIBLE[1]


def near(one: float, other: float) -> bool:
    """Whether two resolutions are the same for all purposes."""
    return max(one, other) <= NEAR * min(one, other)


def slide_name(file: str | Path) -> str:
    """The name of a slide: its file's, without the folder and the suffix of a slide.

    >>> slide_name("TCGA-1.2.svs"), slide_name("TCGA-1.2")
    ('TCGA-1.2', 'TCGA-1.2')
    """
    path = Path(file)
    return path.stem if path.suffix.lower() in SUFFIXES else path.name


def list_slides(sources: list[Path]) -> list[Path]:
    """The slides among files and below folders, each name once."""
    slides: dict[str, Path] = {}
    for source in sources:
        if not source.exists():
            raise InputError(f"{source} does not exist; give slides, or a folder of slides")
        below = [file for file in sorted(source.rglob("*")) if _is_slide(file)]
        for slide in below if source.is_dir() else [source]:
            if slides.setdefault(slide.stem, slide).resolve() != slide.resolve():
                raise InputError(f"{slides[slide.stem]} and {slide} have the same name; rename one")
    if not slides:
        raise InputError(f"{sources[0]} holds no slides ({', '.join(SUFFIXES)}); check the path")
    return list(slides.values())


def _is_slide(file: Path) -> bool:
    """By its name; what is hidden is not looked at, and a link to nothing is not passed over."""
    return file.suffix.lower() in SUFFIXES and not file.name.startswith(".") and not file.is_dir()


def _open(path: Path) -> Any:
    check_openslide()
    import openslide

    if not path.is_file():
        raise InputError(f"{path} is not a file; give slides, or a folder of slides")
    try:
        return openslide.OpenSlide(path)
    except openslide.OpenSlideError as error:
        raise InputError(
            f"{path} is not a slide that OpenSlide can read ({error or 'unknown format'}); restore it from a copy"
        ) from None
