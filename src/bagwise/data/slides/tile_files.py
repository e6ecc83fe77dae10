"""Tile files of slides, and the regions of slides that become bags.

tiles/NAME.json              the slide, the tiling settings, and x, y of every tile in level-0 pixels
tiles/thumbnails/NAME.png    overview with the tissue in full colour and a frame around each tile

A bag is a whole slide, or a square region of a slide, if its regions have different labels:

NAME          all tiles of a slide
NAME@X-Y      the tiles whose upper left corner is in the square at (X, Y), in level-0 pixels
"""

import hashlib
import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bagwise.bags import KIND as BAGS
from bagwise.data.slides.slide import Slide
from bagwise.data.slides.slide_tiles import MAX_TILE_SIZE, SlideTiles, TilingSettings, tile_slide
from bagwise.errors import InputError
from bagwise.io import MANIFEST, read_json, read_manifest, write_atomically

KIND = "bagwise tiles"
SETTINGS_KEY = "settings"  # in the JSON file
MAX_SLIDE_SIDE = 1 << 40  # pixels; larger than any slide, and far below the limit of 64-bit integers
THUMBNAIL_SIDE = 1024
FRAME_COLOUR = (20, 110, 60)


class TileFile(NamedTuple):
    """The contents of a tile file.

    Attributes
    ----------
    path : Path
        The tile file.
    slide : Path
        The slide file.
    width, height : int
        Size of the slide in level-0 pixels.
    mpp : float or None
        Micrometres per pixel at level 0; None if it is unknown.
    size : int
        Side of a tile in pixels.
    extent : int
        Side of a tile in level-0 pixels.
    positions : ndarray of shape (n, 2)
        x and y of the upper left corner of each tile, in level-0 pixels.
    settings : dict
        The ``TilingSettings`` with which the slide was tiled.
    """

    path: Path
    slide: Path
    width: int
    height: int
    mpp: float | None
    size: int
    extent: int
    positions: np.ndarray
    settings: dict[str, Any]

    @property
    def name(self) -> str:
        """Name of the slide."""
        return self.path.stem

    @property
    def fingerprint(self) -> str:
        """Hash of the tiles, which is part of the name of their feature file."""
        geometry = json.dumps([self.width, self.height, self.size, self.extent]).encode()
        return hashlib.sha256(geometry + self.positions.astype("<i8").tobytes()).hexdigest()[:12]


def find_tiles(slide_path: Path, folder: Path, settings: TilingSettings) -> TileFile | None:
    """Find the tile file of a slide that was tiled before.

    Parameters
    ----------
    slide_path : Path
        The slide file.
    folder : Path
        The folder of tile files.
    settings : TilingSettings
        The tiling settings, which must be the same as before.

    Returns
    -------
    TileFile or None
        None if the slide was not tiled yet.

    Raises
    ------
    InputError
        If the slide was tiled with other settings.
    """
    path = folder / f"{slide_path.stem}.json"
    if not path.exists():
        return None
    found = read_tiles(path)
    changed = [name for name, value in settings._asdict().items() if found.settings.get(name) != value]
    if changed:
        raise InputError(
            f"{path} was made with {changed[0]} {found.settings.get(changed[0])}, not {getattr(settings, changed[0])}; "
            "choose another --out, or remove the file"
        )
    return found


def tile_to_file(slide_path: Path, folder: Path, settings: TilingSettings) -> TileFile:
    """Tile a slide, and write its thumbnail and its tile file.

    The tile file is written last: if it exists, the slide is done.

    Parameters
    ----------
    slide_path : Path
        The slide file.
    folder : Path
        The folder to write to.
    settings : TilingSettings
        The tiling settings.

    Returns
    -------
    TileFile
    """
    path = folder / f"{slide_path.stem}.json"
    with Slide(slide_path, settings.slide_mpp) as slide:
        tiles = tile_slide(slide, settings)
        with write_atomically(folder / "thumbnails" / f"{slide_path.stem}.png") as temporary:
            render_tiles(slide, tiles).save(temporary, format="PNG")
        content = {
            "kind": KIND,
            "version": 1,
            "slide": str(slide_path.resolve()),
            "width": slide.width,
            "height": slide.height,
            "mpp": slide.mpp,
            "size": settings.size,
            "tile_size": tiles.extent,
            SETTINGS_KEY: settings._asdict(),
            "positions": tiles.positions.tolist(),
        }
    with write_atomically(path) as temporary:
        temporary.write_text(json.dumps(content, ensure_ascii=False, allow_nan=False) + "\n", encoding="utf-8")
    return read_tiles(path)


def render_tiles(slide: Slide, tiles: SlideTiles) -> Any:
    """Return an overview as a Pillow image, with a paler background and a frame around each tile."""
    import PIL.Image
    import PIL.ImageDraw

    scale = max(1, -(-max(slide.width, slide.height) // THUMBNAIL_SIDE))
    picture = PIL.Image.fromarray(slide.overview(scale))
    mask = PIL.Image.fromarray(tiles.mask).resize(picture.size, PIL.Image.Resampling.NEAREST)
    pale = PIL.Image.blend(picture, PIL.Image.new("RGB", picture.size, (170, 180, 190)), 0.5)
    rendered = PIL.Image.composite(picture, pale, mask)
    pen = PIL.ImageDraw.Draw(rendered)
    for x, y in tiles.positions / scale:
        side = tiles.extent / scale
        pen.rectangle((x, y, x + side - 1, y + side - 1), outline=FRAME_COLOUR)
    return rendered


def list_tiles(folder: str | Path) -> list[TileFile]:
    """Read every tile file of a folder, sorted by name.

    Parameters
    ----------
    folder : str or Path
        A folder that ``bagwise tile`` wrote.

    Returns
    -------
    list of TileFile

    Raises
    ------
    InputError
        If the folder contains no tile files, or one of them is damaged.
    """
    files = sorted(Path(folder).glob("*.json"))
    if not files:
        raise InputError(f"{folder} contains no tiles; make them with: bagwise tile SLIDES --out {folder}")
    return [read_tiles(file) for file in files]


def read_tiles(path: Path) -> TileFile:
    """Read and check a tile file."""
    content = read_json(path)
    if not isinstance(content, dict) or content.get("kind") != KIND or content.get("version") != 1:
        raise InputError(
            f"{path} is not a tile file of this version of bagwise; make one with: bagwise tile SLIDES --out FOLDER"
        )
    try:
        width, height, size, extent = (int(content[key]) for key in ("width", "height", "size", "tile_size"))
        positions = np.array(content["positions"], dtype=np.int64).reshape(-1, 2)
        slide, mpp, settings = Path(content["slide"]), content["mpp"], dict(content[SETTINGS_KEY])
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{path} is damaged ({error}); remove it and run bagwise tile again") from None
    if not 1 <= size <= MAX_TILE_SIZE or not all(1 <= side <= MAX_SLIDE_SIDE for side in (extent, width, height)):
        raise InputError(
            f"{path} is damaged: tiles of {size} pixels (tile_size {extent}) on a slide of {width}×{height} are "
            "impossible; remove it and run bagwise tile again"
        )
    if len(positions) and ((positions < 0).any() or (positions > [width - extent, height - extent]).any()):
        raise InputError(
            f"{path} has tiles outside its slide of {width}×{height} pixels; remove it and run bagwise tile again"
        )
    return TileFile(
        path=path,
        slide=slide,
        width=width,
        height=height,
        mpp=mpp,
        size=size,
        extent=extent,
        positions=positions,
        settings=settings,
    )


def check_bags_folder(folder: Path) -> None:
    """Raise an error if an output folder contains files other than bags, which would be replaced.

    Parameters
    ----------
    folder : Path
        The output folder; it may be empty or not exist.

    Raises
    ------
    InputError
        If the folder contains files that are not bags.
    """
    if folder.is_dir() and any(folder.iterdir()):
        if not (folder / MANIFEST).is_file():
            raise InputError(f"{folder} contains files that are not bags; choose another folder with --out")
        read_manifest(folder, BAGS)


class Region(NamedTuple):
    """A region of a slide that becomes a bag.

    Attributes
    ----------
    name : str
        Name of the bag.
    rows : slice or ndarray of int
        Indices of its tiles in the tile file.
    """

    name: str
    rows: slice | np.ndarray


def split_into_regions(entry: TileFile, side: int | None = None) -> list[Region]:
    """Split a slide into square regions.

    Parameters
    ----------
    entry : TileFile
        The tiles of the slide.
    side : int or None, default=None
        Side of a region in level-0 pixels; None returns the whole slide as one region.

    Returns
    -------
    list of Region
        The regions that contain tiles, row by row.

    Raises
    ------
    InputError
        If a region would be smaller than a tile.
    """
    if side is None:
        return [Region(entry.name, slice(None))]  # indexing with an array would load the features
    if side < entry.extent:
        raise InputError(
            f"regions of {side} level-0 pixels are smaller than the tiles of {entry.path} ({entry.extent} level-0 "
            f"pixels); pass --regions {entry.extent} or more"
        )
    squares = entry.positions // side
    corners, owners = np.unique(squares[:, ::-1], axis=0, return_inverse=True)
    return [
        Region(f"{entry.name}@{x * side}-{y * side}", np.flatnonzero(owners.ravel() == number))
        for number, (y, x) in enumerate(corners.tolist())
    ]
