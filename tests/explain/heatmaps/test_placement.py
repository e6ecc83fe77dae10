"""A hot spot of a synthetic slide is hot on the map where it lies on the slide, whichever tool cut the tiles."""

import h5py
import numpy as np
import pytest

from bagwise.explain.heatmaps.grounds import open_ground
from bagwise.explain.heatmaps.raster import rasterise
from bagwise.explain.heatmaps.tiles import Tiles, tiles_of
from bagwise.explain.heatmaps.window import window_of
from bagwise.formats.clam import Clam
from bagwise.formats.importing import import_features
from bagwise.formats.labels import Label
from bagwise.formats.trident import Trident
from bagwise.slides.slide import Slide
from bagwise.slides.tiling import Wish, tile
from bagwise.storage import load_bags
from formats.foreign import clam_slide, trident_slide
from slides.slide_files import HEIGHT, TISSUE, WIDTH, painted, write_pyramid

pytest.importorskip("openslide")

SPOT = (1088, 576, 64)  # x, y, side: off the diagonal and off the middle, so that no mirrored or swapped map fits
SIZE = 64  # pixels of a tile at its level; level 1 is four times as coarse
DOWNSAMPLES = (1, 4, 7.3, 16, 23.9, 64, 100.5)


def spotted():
    picture = painted().copy()
    x, y, side = SPOT
    picture[y : y + side, x : x + side] = (250, 10, 10)
    return picture


def redness(pixels):
    """How much redder a piece is than the tissue, whose red and blue are alike."""
    return float(pixels[..., 0].mean()) - float(pixels[..., 2].mean())


def hot_tile(extent):
    """The tile of a grid from (0, 0) that holds the spot."""
    return SPOT[0] // extent * extent, SPOT[1] // extent * extent, extent


def grid(extent):
    """Corners of the tiles on the tissue."""
    left, top, right, bottom = TISSUE
    x, y = np.meshgrid(np.arange(left, right, extent), np.arange(top, bottom, extent))
    return np.stack([x.ravel(), y.ravel()], axis=1)


def check_hot(values, tiles, downsample, expected):
    """The hottest pixels of the map are the expected tile: its place and its size."""
    heatmap = rasterise(values, tiles.positions, tiles.size, window_of((WIDTH, HEIGHT), downsample))
    x, y, side = expected
    pixels = np.nan_to_num(heatmap.values, nan=-np.inf)
    rows, columns = np.nonzero(pixels >= pixels.max() - 1e-4 * np.abs(pixels.max()))
    low = np.array([columns.min(), rows.min()]) * downsample + heatmap.origin
    high = np.array([columns.max() + 1, rows.max() + 1]) * downsample + heatmap.origin
    assert (np.abs(low - (x, y)) < downsample).all(), "it begins elsewhere"
    assert (np.abs(high - (x + side, y + side)) < downsample).all(), "it ends elsewhere"
    if 2 * downsample <= side:
        assert (low >= (x, y)).all(), "the hottest pixels are wholly in the tile"
        assert (high <= (x + side, y + side)).all()


@pytest.fixture(scope="module")
def slide(tmp_path_factory):
    path = tmp_path_factory.mktemp("spotted") / "s1.tif"
    write_pyramid(path, spotted())
    return path


@pytest.mark.parametrize(("level", "extent"), [(0, 64), (1, 256)])
def test_tiles_of_our_own(slide, level, extent):
    with Slide(slide) as opened:
        cut = tile(opened, Wish(size=SIZE, mpp=None, level=level))
    tiles = Tiles(cut.positions, cut.extent)
    with open_ground(slide) as ground:
        values = np.array([redness(ground.square(x, y, cut.extent, SIZE)) for x, y in cut.positions.tolist()])
    for downsample in DOWNSAMPLES:
        check_hot(values, tiles, downsample, hot_tile(extent))


def imported(folder, write, level):
    """A slide as another tool writes it, with the redness of each tile as its feature, imported as bags."""
    extent = SIZE * 4**level
    coords, picture = grid(extent), spotted()
    rows = np.array([[redness(picture[y : y + extent, x : x + extent])] for x, y in coords], dtype=np.float32)
    features = write(folder, rows, coords, extent)
    import_features(features, {"s1": Label(1, None)}, folder / "bags")
    return load_bags(folder / "bags")


def clam(folder, rows, coords, extent):
    factor = extent / SIZE
    dims = (int(WIDTH / factor), int(HEIGHT / factor))
    written = clam_slide(folder, "s1", rows, coords, downsample=(factor, factor), dims=dims)
    with h5py.File(folder / "patches" / "s1.h5", "a") as file:
        file["coords"].attrs["patch_size"] = SIZE
    return Clam(written)


def trident(folder, rows, coords, extent):
    written = trident_slide(folder, "s1", rows, coords, bounds=(WIDTH, HEIGHT))
    for path in (written / "s1.h5", written.parent / "patches" / "s1_patches.h5"):
        with h5py.File(path, "a") as file:
            file["coords"].attrs["patch_size"] = SIZE
            file["coords"].attrs["patch_size_level0"] = extent
    return Trident(written)


@pytest.mark.parametrize("level", [0, 1])
@pytest.mark.parametrize("write", [clam, trident])
def test_tiles_of_other_tools(tmp_path, write, level):
    bag = imported(tmp_path, write, level)[[0]]
    for downsample in DOWNSAMPLES:
        check_hot(bag.instances[:, 0], tiles_of(bag), downsample, hot_tile(SIZE * 4**level))


@pytest.mark.parametrize("downsample", DOWNSAMPLES[:-2])
def test_a_wrong_map_would_be_seen(tmp_path, downsample):
    """The check above is no empty one: a blank, shifted, swapped or wrongly sized map does not pass it."""
    bag = imported(tmp_path, clam, 1)[[0]]
    values, tiles, expected = bag.instances[:, 0], tiles_of(bag), hot_tile(256)
    swapped = np.flip(tiles.positions, axis=1)
    for other_values, other_tiles in (
        (np.zeros(len(values)), tiles),
        (values, Tiles(tiles.positions + (0, 64), 256)),
        (values, Tiles(tiles.positions - (64, 0), 256)),
        (values, Tiles(swapped, 256)),
        (values, Tiles(tiles.positions / 4, 256)),
        (values, Tiles(tiles.positions, 64)),
        (values, Tiles(tiles.positions, 512)),
    ):
        with pytest.raises(AssertionError):
            check_hot(other_values, other_tiles, downsample, expected)
