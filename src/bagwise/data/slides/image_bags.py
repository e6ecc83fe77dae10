"""Plain images → bags of tiles: an image is a bag, and its tiles, (size, size, 3) uint8, are the instances.

The images are in a folder with one subfolder per class, or listed in a csv file (file, label, group).
"""

import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import UInt8

from bagwise.bags import Bags
from bagwise.data.slides.bag_labels import Label, read_bag_labels
from bagwise.errors import InputError
from bagwise.nn import LUMA, WHITE

IMAGE_SUFFIXES = (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".bmp", ".webp")
MODES = ("1", "L", "LA", "P", "PA", "RGB", "RGBA", "RGBX", "CMYK", "YCbCr")  # eight bits per channel
MAX_BYTES = 1 << 31  # of the tiles of one image


class ImageTiling(NamedTuple):
    """Settings for cutting images into tiles.

    Attributes
    ----------
    size : int
        Side of a tile in pixels.
    stride : int or None, default=None
        Distance between tiles in pixels; None means ``size``.
    white : int, default=WHITE
        Grey value above which a pixel counts as white.
    drop : float, default=0.75
        Tiles with at least this share of white pixels are dropped.
    """

    size: int
    stride: int | None = None
    white: int = WHITE
    drop: float = 0.75


class ImageBags(NamedTuple):
    """Bags of tiles.

    Attributes
    ----------
    bags : Bags
        One bag per image.
    set_aside : list of str
        Names of images without a bag: no tile was kept, or the image is smaller than a tile.
    """

    bags: Bags
    set_aside: list[str]


class LabelledImage(NamedTuple):
    """An image file with its name, label and group; label and group are None if they are unknown."""

    path: Path
    name: str
    label: Label | None
    group: str | None


def load_image_bags(source: str | Path, tiling: ImageTiling) -> ImageBags:
    """Cut images into tiles and load them into memory.

    Parameters
    ----------
    source : str or Path
        A folder with one subfolder per class, a folder of images without labels, or a csv file with the columns
        ``file``, ``label`` and, optionally, ``group``. Paths in the csv file are relative to its folder.
    tiling : ImageTiling
        Size, stride and white threshold of the tiles.

    Returns
    -------
    ImageBags

    Raises
    ------
    InputError
        If an image cannot be read, or no tile is kept.
    """
    set_aside: list[str] = []
    kept = list(_iterate_bags(list_images(source), tiling, set_aside))
    if not kept:
        raise InputError(
            f"{source}: no tile of any image was kept; use smaller tiles, e.g. --data-option "
            f"size={tiling.size // 2 or 1}, or keep white tiles with --data-option drop=1.1"
        )
    columns: dict[str, list[Any]] = {name: [bag[name] for bag in kept] for name in kept[0]}
    bags = Bags.from_list(
        columns["instances"],
        labels=columns.get("label"),
        names=columns["name"],
        groups=columns.get("group"),
        positions=np.concatenate(columns["positions"]),
        tile_sizes=columns["tile_size"],
    )
    return ImageBags(bags, set_aside)


def _iterate_bags(
    images: Iterable[LabelledImage], tiling: ImageTiling, set_aside: list[str]
) -> Iterator[dict[str, Any]]:
    check_image_tiling(tiling)
    for image in images:
        pixels = read_image(image.path)
        if min(pixels.shape[:2]) < tiling.size:
            set_aside.append(image.name)
            continue
        tiles, positions = _cut_image(image.path, pixels, tiling)
        kept = measure_white(tiles, tiling.white) < tiling.drop
        if not kept.any():
            set_aside.append(image.name)
            continue
        metadata = {"label": image.label, "group": image.group}
        yield {
            "instances": tiles[kept],
            "positions": positions[kept],
            "name": image.name,
            "tile_size": tiling.size,
            **{name: value for name, value in metadata.items() if value is not None},
        }


def check_image_tiling(tiling: ImageTiling) -> None:
    """Raise an error for invalid settings, before any image is opened."""
    for name, value in (("size", tiling.size), ("stride", tiling.stride)):
        if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 1):
            raise InputError(
                f"{name} must be a whole number of pixels, at least 1, got {value}; pass e.g. --data-option {name}=32"
            )
    if not tiling.drop > 0:
        raise InputError(
            f"drop must be the share of white pixels from which a tile is dropped, above 0, got {tiling.drop}; pass "
            "e.g. --data-option drop=0.75"
        )


def _cut_image(path: Path, pixels: np.ndarray, tiling: ImageTiling) -> tuple[np.ndarray, np.ndarray]:
    step = tiling.stride or tiling.size
    n_tiles = ((pixels.shape[0] - tiling.size) // step + 1) * ((pixels.shape[1] - tiling.size) // step + 1)
    if n_tiles * tiling.size**2 * 3 > MAX_BYTES:
        raise InputError(
            f"{path} would become {n_tiles:,} tiles, more than {MAX_BYTES >> 30} GB; use a larger stride, e.g. "
            f"--data-option stride={tiling.size}"
        )
    return cut_tiles(pixels, tiling.size, step)


def cut_tiles(image: np.ndarray, size: int, stride: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Cut an image into tiles, row by row; tiles that would cross the border are left out.

    Parameters
    ----------
    image : ndarray of shape (height, width, ...)
        The pixels.
    size : int
        Side of a tile in pixels.
    stride : int or None, default=None
        Distance between tiles in pixels; None means ``size``.

    Returns
    -------
    tiles : ndarray of shape (n, size, size, ...)
        The tiles.
    positions : ndarray of shape (n, 2)
        x and y of the upper left corner of each tile.

    Examples
    --------
    >>> tiles, positions = cut_tiles(np.zeros((4, 6, 3), dtype=np.uint8), size=2)
    >>> tiles.shape, positions[:4].tolist()
    ((6, 2, 2, 3), [[0, 0], [2, 0], [4, 0], [0, 2]])
    """
    stride = size if stride is None else stride
    if size < 1 or stride < 1:
        raise InputError(f"size and stride must be at least 1, got size {size} and stride {stride}")
    if min(image.shape[:2]) < size:
        raise InputError(
            f"an image of {image.shape[1]}×{image.shape[0]} pixels is smaller than a tile of {size}×{size}; choose a "
            "smaller size"
        )
    windows = np.lib.stride_tricks.sliding_window_view(image, (size, size), axis=(0, 1))[::stride, ::stride]
    rows, columns = windows.shape[:2]
    tiles = np.moveaxis(windows, (-2, -1), (2, 3)).reshape(rows * columns, size, size, *image.shape[2:])
    y, x = np.divmod(np.arange(rows * columns), columns)
    return tiles, np.stack([x, y], axis=1) * stride


def measure_white(tiles: np.ndarray, white: int = WHITE) -> np.ndarray:
    """Return the share of pixels with a grey value above ``white``, for each tile."""
    grey = tiles if tiles.ndim == 3 else tiles[..., :3] @ LUMA
    return (grey > white).mean(axis=(1, 2))


def read_image(path: Path) -> UInt8[np.ndarray, "height width 3"]:
    """Read an image file as RGB; transparent pixels become white.

    Parameters
    ----------
    path : Path
        An image file with eight bits per channel, in any format that Pillow reads.

    Returns
    -------
    ndarray of uint8 of shape (height, width, 3)

    Raises
    ------
    InputError
        If the file does not exist, is damaged, or is too large.
    """
    import PIL.Image

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # unusual metadata is no reason to reject an image
            warnings.simplefilter("error", PIL.Image.DecompressionBombWarning)
            with PIL.Image.open(path) as image:
                if image.mode not in MODES:
                    raise InputError(f"{path} has pixels of mode '{image.mode}'; save it with eight bits per channel")
                image.load()
                return np.asarray(_make_opaque(image))
    except (PIL.Image.DecompressionBombWarning, PIL.Image.DecompressionBombError):
        limit = PIL.Image.MAX_IMAGE_PIXELS or 0
        raise InputError(
            f"{path} has more than {limit:,} pixels; cut it into smaller images, or treat it as a slide with: "
            f"bagwise tile {path} --out tiles/"
        ) from None
    except InputError:
        raise
    except FileNotFoundError:
        raise InputError(f"no such file: {path}; check the path") from None
    except Exception as error:  # Pillow's errors on damaged files have no common class
        raise InputError(
            f"{path} cannot be read as an image ({error}); restore it from a copy or leave it out"
        ) from None


def _make_opaque(image: Any) -> Any:
    """Convert an image to RGB, on a white background."""
    import PIL.Image

    if image.mode in ("LA", "PA", "RGBA") or "transparency" in image.info:
        layer = image.convert("RGBA")
        background = PIL.Image.new("RGBA", layer.size, "white")
        return PIL.Image.alpha_composite(background, layer).convert("RGB")
    return image.convert("RGB")


def list_images(source: str | Path) -> list[LabelledImage]:
    """List the images of a folder or of a csv file."""
    source = Path(source)
    if not source.exists():
        raise InputError(
            f"no such file or folder: {source}; pass a folder of images or a csv file with the columns file, label"
        )
    images = _list_folder(source) if source.is_dir() else _list_table(source)
    if not images:
        raise InputError(f"{source} contains no images ({', '.join(IMAGE_SUFFIXES)}); check the path")
    return images


def _list_folder(folder: Path) -> list[LabelledImage]:
    """List images in one subfolder per class, or images without labels if no subfolder contains images."""
    inside = [entry for entry in sorted(folder.iterdir()) if not entry.name.startswith(".")]
    unlabelled = [entry for entry in inside if _is_image(entry, folder)]
    classes = {
        entry: [file for file in sorted(entry.rglob("*")) if _is_image(file, folder)]
        for entry in inside
        if entry.is_dir()
    }
    has_classes = any(classes.values())
    if unlabelled and has_classes:
        raise InputError(
            f"{unlabelled[0]} is beside the class subfolders; move it into one of them, or list the files in a csv file"
        )
    empty = [entry for entry, files in classes.items() if not files]
    if has_classes and empty:
        raise InputError(
            f"{empty[0]} is a class folder without images ({', '.join(IMAGE_SUFFIXES)}); add images or remove it"
        )
    return [_make_entry(file, folder, None) for file in unlabelled] + [
        _make_entry(file, folder, entry.name) for entry, files in classes.items() for file in files
    ]


def _make_entry(file: Path, folder: Path, label: str | None) -> LabelledImage:
    return LabelledImage(path=file, name=file.relative_to(folder).as_posix(), label=label, group=None)


def _list_table(table: Path) -> list[LabelledImage]:
    rows = read_bag_labels(table, key="file", label="label", group="group")
    return [
        LabelledImage(path=table.parent / name, name=name, label=entry.label, group=entry.group)
        for name, entry in rows.items()
    ]


def _is_image(file: Path, folder: Path) -> bool:
    """Return whether a name is that of an image and not hidden; broken links are kept, and reported when opened."""
    hidden = any(part.startswith(".") for part in file.relative_to(folder).parts)
    return file.suffix.lower() in IMAGE_SUFFIXES and not hidden and not file.is_dir()
