"""The tiles of a slide on disk: one JSON file a slide, and a picture of the slide with its tiles to look at.

tiles/NAME.json              the slide, how it was cut, and every tile's x, y in level-0 pixels
tiles/thumbnails/NAME.png    tissue in full colour, each kept tile framed
"""

import hashlib
import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bagwise.errors import InputError
from bagwise.files import MANIFEST, atomic, read_json
from bagwise.manifests import read_manifest
from bagwise.slides.slide import Slide
from bagwise.slides.tiling import LARGEST_SIZE, Tiles, Wish, tile
from bagwise.writing import KIND as BAGS

LARGEST_SIDE = 1 << 40  # pixels of a slide: more than any, and far from where whole numbers end
KIND = "bagwise tiles"
THUMBNAIL = 1024  # longest side
FRAME = (20, 110, 60)


class TileFile(NamedTuple):
    """What a tile file says."""

    path: Path
    slide: Path
    width: int
    height: int
    mpp: float | None  # of level 0
    size: int  # pixels of a tile
    extent: int  # level-0 pixels of a tile
    positions: np.ndarray
    wish: dict[str, Any]

    @property
    def name(self) -> str:
        return self.path.stem

    @property
    def fingerprint(self) -> str:
        """Which tiles these are: features belong to them, and to no others."""
        facts = json.dumps([self.width, self.height, self.size, self.extent]).encode()
        return hashlib.sha256(facts + self.positions.astype("<i8").tobytes()).hexdigest()[:12]


def find_tiles(slide_path: Path, folder: Path, wish: Wish) -> TileFile | None:
    """The tile file of a slide that was tiled before, in the same way; in another way is refused."""
    path = folder / f"{slide_path.stem}.json"
    if not path.exists():
        return None
    found = read_tiles(path)
    other = [name for name, value in wish._asdict().items() if found.wish.get(name) != value]
    if other:
        raise InputError(
            f"{path} was made with {other[0]} {found.wish.get(other[0])}, not {getattr(wish, other[0])}; "
            "choose another --out, or remove the file"
        )
    return found


def tile_to_file(slide_path: Path, folder: Path, wish: Wish) -> TileFile:
    """Tile a slide; writes its thumbnail first and its file last, so that the file says that all is done."""
    path = folder / f"{slide_path.stem}.json"
    with Slide(slide_path, wish.slide_mpp) as slide:
        tiles = tile(slide, wish)
        with atomic(folder / "thumbnails" / f"{slide_path.stem}.png") as draft:
            draw(slide, tiles).save(draft, format="PNG")
        content = {
            "kind": KIND,
            "version": 1,
            "slide": str(slide_path.resolve()),
            "width": slide.width,
            "height": slide.height,
            "mpp": slide.mpp,
            "size": wish.size,
            "tile_size": tiles.extent,
            "wish": wish._asdict(),
            "positions": tiles.positions.tolist(),
        }
    with atomic(path) as draft:
        draft.write_text(json.dumps(content, ensure_ascii=False, allow_nan=False) + "\n", encoding="utf-8")
    return read_tiles(path)


def read_tiles(path: Path) -> TileFile:
    """Read and check a tile file."""
    content = read_json(path)
    if not isinstance(content, dict) or content.get("kind") != KIND or content.get("version") != 1:
        raise InputError(f"{path} is not a file of tiles that this bagwise wrote; make it with: bagwise tile")
    try:
        width, height, size, extent = (int(content[key]) for key in ("width", "height", "size", "tile_size"))
        corners = np.array(content["positions"], dtype=np.int64).reshape(-1, 2)
        slide, mpp, wish = Path(content["slide"]), content["mpp"], dict(content["wish"])
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{path} is damaged ({error}); remove it and run bagwise tile again") from None
    if not 1 <= size <= LARGEST_SIZE or not all(1 <= side <= LARGEST_SIDE for side in (extent, width, height)):
        raise InputError(f"{path} is damaged: no tile has {size} pixels; remove it and run bagwise tile again")
    if len(corners) and ((corners < 0).any() or (corners > [width - extent, height - extent]).any()):
        raise InputError(f"{path} has tiles outside its slide of {width}×{height}; run bagwise tile again")
    return TileFile(path, slide, width, height, mpp, size, extent, corners, wish)


def list_tiles(folder: str | Path) -> list[TileFile]:
    """Every tile file of a folder, by name."""
    files = sorted(Path(folder).glob("*.json"))
    if not files:
        raise InputError(f"{folder} holds no tiles; make them with: bagwise tile SLIDES --out {folder}")
    return [read_tiles(file) for file in files]


def check_target(folder: Path) -> None:
    """A folder that holds something else than bags is never replaced."""
    if folder.is_dir() and any(folder.iterdir()):
        if not (folder / MANIFEST).is_file():
            raise InputError(f"{folder} holds files that are not bags; choose another folder")
        read_manifest(folder, BAGS)


def draw(slide: Slide, tiles: Tiles) -> Any:
    """An overview: what is not tissue is paler, kept tiles are framed."""
    import PIL.Image
    import PIL.ImageDraw

    scale = max(1, -(-max(slide.width, slide.height) // THUMBNAIL))
    picture = PIL.Image.fromarray(slide.overview(scale))
    mask = PIL.Image.fromarray(tiles.mask).resize(picture.size, PIL.Image.Resampling.NEAREST)
    pale = PIL.Image.blend(picture, PIL.Image.new("RGB", picture.size, (170, 180, 190)), 0.5)
    shown = PIL.Image.composite(picture, pale, mask)
    pen = PIL.ImageDraw.Draw(shown)
    for x, y in tiles.positions / scale:
        side = tiles.extent / scale
        pen.rectangle((x, y, x + side - 1, y + side - 1), outline=FRAME)
    return shown
