"""Plain images → bags of tiles: a folder with a sub-folder for each class, or a csv (file, label, group).

An image is a bag, its tiles are the instances, as they are stored: bytes, (size, size, 3).
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bagwise.bags import Bags
from bagwise.errors import InputError
from bagwise.slides.cutting import WHITE, cut, white_share
from bagwise.slides.labels import Label, read_labels
from bagwise.slides.picture_files import read_image
from bagwise.writing import BagWriter

SUFFIXES = (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".bmp", ".webp")
LARGEST = 1 << 31  # bytes of the tiles of one image


class Image(NamedTuple):
    """An image file, and what is known of it."""

    path: Path
    name: str
    label: Label | None
    group: str | None


class Tiling(NamedTuple):
    """How images are cut: tiles of ``size`` every ``stride`` pixels, but not those too white.

    A pixel is white if its grey value lies above ``white``; a tile is dropped if a share ``drop`` or more of it is.
    """

    size: int
    stride: int | None = None
    white: int = WHITE
    drop: float = 0.75


class ImageBags(NamedTuple):
    """Bags, and the names of the images that were set aside because no tile of them was kept."""

    bags: Bags
    set_aside: list[str]


def list_images(source: str | Path) -> list[Image]:
    """The images of a folder or of a csv; the folders of a csv's files start where the csv lies."""
    source = Path(source)
    if not source.exists():
        raise InputError(f"{source} does not exist; give a folder of images or a csv with the columns file, label")
    images = _of_folder(source) if source.is_dir() else _of_table(source)
    if not images:
        raise InputError(f"{source} holds no images ({', '.join(SUFFIXES)}); check the path")
    return images


def load_image_bags(source: str | Path, tiling: Tiling) -> ImageBags:
    """The bags of all images, in memory."""
    set_aside: list[str] = []
    kept = list(_bags(list_images(source), tiling, set_aside))
    if not kept:
        raise InputError(f"{source}: no image has a tile to keep; lower the tile size, or drop fewer white tiles")
    columns: dict[str, list[Any]] = {title: [bag[title] for bag in kept] for title in kept[0]}
    bags = Bags.from_list(
        columns["instances"],
        labels=columns.get("label"),
        names=columns["name"],
        groups=columns.get("group"),
        positions=np.concatenate(columns["positions"]),
        tile_sizes=columns["tile_size"],
    )
    return ImageBags(bags, set_aside)


def write_image_bags(source: str | Path, folder: str | Path, tiling: Tiling) -> list[str]:
    """Write the bags of all images to a folder, one image in memory at a time; returns the names set aside."""
    set_aside: list[str] = []
    with BagWriter(folder) as writer:
        for bag in _bags(list_images(source), tiling, set_aside):
            writer.add(**bag)
    return set_aside


def check(tiling: Tiling) -> None:
    """Refuse what cannot be wanted, before any image is opened."""
    for name, value in (("size", tiling.size), ("stride", tiling.stride)):
        if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 1):
            raise InputError(f"{name} = {value}; give a whole number of pixels, at least 1")
    if not tiling.drop > 0:
        raise InputError(f"drop is {tiling.drop}; give the white share from which a tile is dropped, above 0")


def _bags(images: Iterable[Image], tiling: Tiling, set_aside: list[str]) -> Iterator[dict[str, Any]]:
    check(tiling)
    for image in images:
        pixels = read_image(image.path)
        if min(pixels.shape[:2]) < tiling.size:
            set_aside.append(image.name)
            continue
        tiles, positions = _cut(image.path, pixels, tiling)
        kept = white_share(tiles, tiling.white) < tiling.drop
        if not kept.any():
            set_aside.append(image.name)
            continue
        known = {"label": image.label, "group": image.group}
        yield {
            "instances": tiles[kept],
            "positions": positions[kept],
            "name": image.name,
            "tile_size": tiling.size,
            **{title: value for title, value in known.items() if value is not None},
        }


def _cut(path: Path, pixels: np.ndarray, tiling: Tiling) -> tuple[np.ndarray, np.ndarray]:
    step = tiling.stride or tiling.size
    number = ((pixels.shape[0] - tiling.size) // step + 1) * ((pixels.shape[1] - tiling.size) // step + 1)
    if number * tiling.size**2 * 3 > LARGEST:
        raise InputError(f"{path} would become {number:,} tiles, more than memory should hold; widen the stride")
    return cut(pixels, tiling.size, step)


def _of_folder(folder: Path) -> list[Image]:
    """Class sub-folders, or images without labels when there are no sub-folders with images."""
    inside = [entry for entry in sorted(folder.iterdir()) if not entry.name.startswith(".")]
    loose = [entry for entry in inside if _is_image(entry, folder)]
    classes = {entry: _below(entry, folder) for entry in inside if entry.is_dir()}
    labelled = [file for files in classes.values() for file in files]
    if loose and labelled:
        raise InputError(f"{loose[0]} lies beside the class sub-folders; move it into one, or list the files in a csv")
    empty = [str(entry) for entry, files in classes.items() if not files]
    if labelled and empty:
        raise InputError(f"{empty[0]} is a class without images ({', '.join(SUFFIXES)}); fill it or take it away")
    return [_image(file, folder, None) for file in loose] + [
        _image(file, folder, entry.name) for entry, files in classes.items() for file in files
    ]


def _below(entry: Path, folder: Path) -> list[Path]:
    return [file for file in sorted(entry.rglob("*")) if _is_image(file, folder)]


def _image(file: Path, folder: Path, label: str | None) -> Image:
    return Image(file, file.relative_to(folder).as_posix(), label, None)


def _of_table(table: Path) -> list[Image]:
    rows = read_labels(table, key="file", label="label", group="group")
    return [Image(table.parent / name, name, entry.label, entry.group) for name, entry in rows.items()]


def _is_image(file: Path, folder: Path) -> bool:
    hidden = any(part.startswith(".") for part in file.relative_to(folder).parts)
    return file.suffix.lower() in SUFFIXES and not hidden and not file.is_dir()  # a link to nothing is not passed over
