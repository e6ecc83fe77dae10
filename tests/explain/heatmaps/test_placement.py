"""A spot on a synthetic slide appears at the same position on the map, for tiles of every tool."""

import h5py
import numpy as np
import pytest

from bagwise.bags.folder import load_bags
from bagwise.data.formats.clam import Clam
from bagwise.data.formats.feature_import import import_features
from bagwise.data.formats.slide_labels import SlideLabel
from bagwise.data.formats.trident import Trident
from bagwise.data.slides.slide import Slide
from bagwise.data.slides.slide_tiles import TilingSettings, tile_slide
from bagwise.explain.heatmaps.backgrounds import open_background
from bagwise.explain.heatmaps.raster import rasterise
from bagwise.explain.heatmaps.window import TileGrid, get_tile_grid, make_window
from data.formats.foreign import clam_slide, trident_slide
from data.slides.slide_files import HEIGHT, TISSUE, WIDTH, painted, write_pyramid

pytest.importorskip("openslide")

SPOT = (
    1088,
    576,
    64,
)  # x, y, side; neither centred nor on the diagonal, to detect mirrored or transposed maps
SIZE = 64  # pixels of a tile at its level; level 1 has a downsample of 4
DOWNSAMPLES = (1, 4, 7.3, 16, 23.9, 64, 100.5)


def paint_spot():
    picture = painted().copy()
    x, y, side = SPOT
    picture[y : y + side, x : x + side] = (250, 10, 10)
    return picture


def redness(pixels):
    """Return the mean red minus the mean blue, which are equal in tissue."""
    return float(pixels[..., 0].mean()) - float(pixels[..., 2].mean())


def find_hot_tile(extent):
    """Return the tile that contains the spot, on a grid that starts at (0, 0)."""
    return SPOT[0] // extent * extent, SPOT[1] // extent * extent, extent


def grid(extent):
    """Return the corners of the tiles on the tissue."""
    left, top, right, bottom = TISSUE
    x, y = np.meshgrid(np.arange(left, right, extent), np.arange(top, bottom, extent))
    return np.stack([x.ravel(), y.ravel()], axis=1)


def check_hot(values, tiles, downsample, expected):
    """Check that the highest pixels of the map have the position and size of the expected tile."""
    heatmap = rasterise(values, tiles.positions, tiles.size, make_window((WIDTH, HEIGHT), downsample))
    x, y, side = expected
    pixels = np.nan_to_num(heatmap.values, nan=-np.inf)
    rows, columns = np.nonzero(pixels >= pixels.max() - 1e-4 * np.abs(pixels.max()))
    low = np.array([columns.min(), rows.min()]) * downsample + heatmap.origin
    high = np.array([columns.max() + 1, rows.max() + 1]) * downsample + heatmap.origin
    assert (np.abs(low - (x, y)) < downsample).all(), "wrong start"
    assert (np.abs(high - (x + side, y + side)) < downsample).all(), "wrong end"
    if 2 * downsample <= side:
        assert (low >= (x, y)).all(), "the highest pixels are inside the tile"
        assert (high <= (x + side, y + side)).all()


@pytest.fixture(scope="module")
def slide(tmp_path_factory):
    path = tmp_path_factory.mktemp("paint_spot") / "s1.tif"
    write_pyramid(path, paint_spot())
    return path


@pytest.mark.parametrize(("level", "extent"), [(0, 64), (1, 256)])
def test_tiles_of_tile_slide_are_at_their_positions(slide, level, extent):
    with Slide(slide) as opened:
        cut = tile_slide(opened, TilingSettings(size=SIZE, mpp=None, level=level))
    tiles = TileGrid(cut.positions, cut.extent)
    with open_background(slide) as background:
        values = np.array([redness(background.read_square(x, y, cut.extent, SIZE)) for x, y in cut.positions.tolist()])
    for downsample in DOWNSAMPLES:
        check_hot(values, tiles, downsample, find_hot_tile(extent))


def import_slide(folder, write, level):
    """Import a slide in the format of another tool, with the redness of each tile as its feature."""
    extent = SIZE * 4**level
    coords, picture = grid(extent), paint_spot()
    rows = np.array([[redness(picture[y : y + extent, x : x + extent])] for x, y in coords], dtype=np.float32)
    features = write(folder, rows, coords, extent)
    import_features(features, {"s1": SlideLabel(1, None)}, folder / "bags")
    return load_bags(folder / "bags")


def write_clam(folder, rows, coords, extent):
    factor = extent / SIZE
    dims = (int(WIDTH / factor), int(HEIGHT / factor))
    written = clam_slide(folder, "s1", rows, coords, downsample=(factor, factor), dims=dims)
    with h5py.File(folder / "patches" / "s1.h5", "a") as file:
        file["coords"].attrs["patch_size"] = SIZE
    return Clam(written)


def write_trident(folder, rows, coords, extent):
    written = trident_slide(folder, "s1", rows, coords, bounds=(WIDTH, HEIGHT))
    for path in (written / "s1.h5", written.parent / "patches" / "s1_patches.h5"):
        with h5py.File(path, "a") as file:
            file["coords"].attrs["patch_size"] = SIZE
            file["coords"].attrs["patch_size_level0"] = extent
    return Trident(written)


@pytest.mark.parametrize("level", [0, 1])
@pytest.mark.parametrize("write", [write_clam, write_trident])
def test_tiles_imported_from_other_tools_are_at_their_positions(tmp_path, write, level):
    bag = import_slide(tmp_path, write, level)[[0]]
    for downsample in DOWNSAMPLES:
        check_hot(bag.instances[:, 0], get_tile_grid(bag), downsample, find_hot_tile(SIZE * 4**level))


@pytest.mark.parametrize("downsample", DOWNSAMPLES[:-2])
def test_check_hot_fails_for_wrong_maps(tmp_path, downsample):
    """A blank, shifted, transposed or wrongly sized map is detected."""
    bag = import_slide(tmp_path, write_clam, 1)[[0]]
    values, tiles, expected = bag.instances[:, 0], get_tile_grid(bag), find_hot_tile(256)
    swapped = np.flip(tiles.positions, axis=1)
    for other_values, other_tiles in (
        (np.zeros(len(values)), tiles),
        (values, TileGrid(tiles.positions + (0, 64), 256)),
        (values, TileGrid(tiles.positions - (64, 0), 256)),
        (values, TileGrid(swapped, 256)),
        (values, TileGrid(tiles.positions / 4, 256)),
        (values, TileGrid(tiles.positions, 64)),
        (values, TileGrid(tiles.positions, 512)),
    ):
        with pytest.raises(AssertionError):
            check_hot(other_values, other_tiles, downsample, expected)
