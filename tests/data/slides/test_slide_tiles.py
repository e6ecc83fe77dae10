import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("openslide")

from bagwise.data.slides.slide import Slide
from bagwise.data.slides.slide_tiles import (
    TilingSettings,
    compute_otsu_threshold,
    find_tissue,
    make_grid_positions,
    measure_tissue,
    tile_slide,
)
from bagwise.errors import InputError
from data.slides.slide_files import HEIGHT, REAL, TISSUE, WIDTH, needs_real_slide, painted, write_pyramid


def paint_tissue(left, top, right, bottom, colour=(170, 110, 170)):
    """Return an overview of glass with one rectangle of tissue."""
    noise = np.random.default_rng(0).integers(-4, 5, (120, 160, 1))
    picture = np.full((120, 160, 3), 236) + noise
    picture[top:bottom, left:right] = np.array(colour) + noise[top:bottom, left:right]
    return picture.astype(np.uint8)


@pytest.mark.parametrize("colour", [(170, 110, 170), (225, 190, 210), (90, 40, 110)])
@pytest.mark.parametrize("square", [(40, 30, 100, 90), (5, 5, 155, 115), (100, 60, 115, 75)])
def test_find_tissue_finds_tissue_of_any_size_and_colour(square, colour):
    left, top, right, bottom = square
    mask = find_tissue(paint_tissue(*square, colour), 20)
    truth = np.zeros((120, 160), dtype=bool)
    truth[top:bottom, left:right] = True
    assert (mask ^ truth).sum() <= 0.02 * truth.sum() + 8  # the corners are rounded


def test_find_tissue_finds_none_on_blank_glass_and_only_tissue_in_a_full_picture():
    assert not find_tissue(paint_tissue(0, 0, 0, 0)).any()
    full = paint_tissue(0, 0, 160, 120)
    full[:60] = np.array([230, 170, 200], dtype=np.uint8)  # two stains, which Otsu's method would separate
    assert find_tissue(full).all()


def test_find_tissue_ignores_the_black_around_a_scan():
    picture = paint_tissue(40, 30, 100, 90)
    picture[:, :20] = np.random.default_rng(0).integers(0, 6, (120, 20, 3))
    assert not find_tissue(picture)[:, :20].any()


def test_find_tissue_drops_small_regions_and_fills_small_holes():
    picture = paint_tissue(40, 30, 100, 90)
    picture[5:15, 5:15] = (170, 110, 170)
    picture[50:58, 60:68] = 236
    mask = find_tissue(picture)
    assert mask[10, 10]
    assert not mask[54, 64]
    mask = find_tissue(picture, smallest_region=200, smallest_hole=100)
    assert not mask[10, 10]
    assert mask[54, 64]
    assert not find_tissue(picture, smallest_region=200, smallest_hole=20)[54, 64]


def test_compute_otsu_threshold_agrees_with_scikit_image():
    filters = pytest.importorskip("skimage.filters")
    generator = np.random.default_rng(0)
    values = np.concatenate([generator.normal(0.2, 0.05, 3000), generator.normal(0.6, 0.1, 1000)]).clip(0, 1)
    counts = np.histogram(values, bins=256, range=(0, 1))[0]
    theirs = filters.threshold_otsu(hist=(counts, (np.arange(256) + 0.5) / 256))
    assert compute_otsu_threshold(values) == pytest.approx(theirs, abs=1 / 256)


@pytest.fixture(scope="module")
def pyramid(tmp_path_factory):
    path = tmp_path_factory.mktemp("pyramid") / "pyramid.tif"
    write_pyramid(path)
    return path


@pytest.mark.parametrize(
    ("tiling", "extent"),
    [
        (TilingSettings(size=128, mpp=None, level=0), 128),
        (TilingSettings(size=32, mpp=None, level=1), 128),
        (TilingSettings(size=16, mpp=None, level=2), 256),
        (TilingSettings(size=64, mpp=0.5), 128),
        (TilingSettings(size=64, mpp=1.0), 256),
        (TilingSettings(size=100, mpp=0.25), 100),
        (TilingSettings(size=100, mpp=0.253), 100),  # close to the resolution of the level, so not resampled
        (TilingSettings(size=64, mpp=0.75, overlap=16), 192),
    ],
)
def test_tile_slide_covers_the_tissue_with_tiles_inside_the_slide(pyramid, tiling, extent):
    with Slide(pyramid) as slide:
        tiles = tile_slide(slide, tiling)
    assert tiles.extent == extent
    left, top, right, bottom = TISSUE
    x, y = tiles.positions.T
    assert (x >= 0).all()
    assert (y >= 0).all()
    assert (x + extent <= WIDTH).all()
    assert (y + extent <= HEIGHT).all()
    across = np.minimum(x + extent, right) - np.maximum(x, left)
    down = np.minimum(y + extent, bottom) - np.maximum(y, top)
    share = across.clip(0) * down.clip(0) / extent**2
    assert (share >= 0.45).all()
    step = extent * (1 - tiling.overlap / tiling.size)
    inner = ((right - left) / step - 2) * ((bottom - top) / step - 2)
    assert len(tiles.positions) >= inner  # no tile inside the tissue is missing


@pytest.mark.parametrize(
    "tiling",
    [TilingSettings(size=64, mpp=0.25), TilingSettings(size=32, mpp=0.5), TilingSettings(size=16, mpp=None, level=1)],
)
def test_tile_slide_gives_the_position_of_a_spot(tmp_path, tiling):
    picture = painted().copy()
    picture[704:768, 960:1024] = (250, 10, 10)  # tile (15, 11) of 64 level-0 pixels
    write_pyramid(tmp_path / "spot.tif", picture)
    with Slide(tmp_path / "spot.tif") as slide:
        tiles = tile_slide(slide, tiling)
        pixels = np.stack([slide.read(x, y, tiles.extent, tiling.size) for x, y in tiles.positions.tolist()])
    is_spot = (pixels[..., 0] > 240) & (pixels[..., 1] < 20)
    share = is_spot.mean(axis=(1, 2))
    assert tiles.positions[share > 0].tolist() == [[960, 704]]
    assert share.max() == 1


def test_make_grid_positions_overlaps_neighbours():
    corners = make_grid_positions(1000, 400, extent=128, step=128 * (1 - 32 / 256))
    columns = np.unique(corners[:, 0])
    assert np.diff(columns).tolist() == [112] * (len(columns) - 1)


@settings(max_examples=50, deadline=None, derandomize=True)
@given(st.integers(1, 300), st.integers(1, 300), st.integers(1, 60), st.floats(0.05, 1))
def test_make_grid_positions_is_complete_and_inside_the_slide(width, height, extent, share):
    corners = make_grid_positions(width, height, extent, max(1.0, extent * share))
    if min(width, height) < extent:
        assert len(corners) == 0
        return
    assert corners.min() == 0
    assert (corners + extent <= [width, height]).all()
    assert len(np.unique(corners, axis=0)) == len(corners)
    step = max(1.0, extent * share)
    assert (corners.max(axis=0) + extent > np.array([width, height]) - step - 1).all()  # no further tile would fit


def test_measure_tissue_counts_mask_pixels():
    mask = np.zeros((10, 20), dtype=bool)
    mask[:, 10:] = True
    corners = np.array([[0, 0], [80, 0], [100, 0], [96, 60]])
    assert measure_tissue(mask, corners, extent=40, scale=10).tolist() == [0, 0.5, 1, 1]
    assert measure_tissue(mask, np.array([[102, 3]]), extent=2, scale=10).tolist() == [1]  # smaller than a mask pixel


def test_tile_slide_without_tissue_keeps_no_tile_unless_tissue_is_zero(tmp_path):
    blank = np.full((512, 768, 3), 240, dtype=np.uint8)
    write_pyramid(tmp_path / "blank.tif", blank, levels=1)
    with Slide(tmp_path / "blank.tif") as slide:
        assert tile_slide(slide, TilingSettings(128, 0.25)).positions.shape == (0, 2)
        assert tile_slide(slide, TilingSettings(128, 0.25, tissue=0)).positions.shape == (24, 2)


@pytest.mark.parametrize(
    ("tiling", "message"),
    [
        (
            TilingSettings(mpp=0.1),
            r"pyramid.tif has 0.25 micrometres per pixel, so --mpp 0.1 would need upsampling; pass --mpp 0.25",
        ),
        (TilingSettings(mpp=None, level=3), "has no level 3, only levels 0 to 2; pass e.g. --level 2"),
        (TilingSettings(mpp=None), r"pass --mpp .* or --level"),
        (TilingSettings(level=0), "not both"),
        (TilingSettings(overlap=256), r"overlap must be at least 0 and below the size of a tile, 256, got 256"),
        (TilingSettings(size=0), "size must be from 1 to 16384 pixels, got 0"),
        (TilingSettings(size=20_000), "size must be from 1 to 16384 pixels, got 20000"),
        (TilingSettings(tissue=1.5), "from 0 to 1, got 1.5; pass e.g. --tissue"),
        (TilingSettings(mpp=40), "mpp must be micrometres per pixel, from 0.02 to 20, got 40"),
        (TilingSettings(size=4000), "pass a smaller --size"),
        (TilingSettings(size=100, mpp=0.25, overlap=99, smallest=float("nan")), "at least 0, got nan"),
    ],
)
def test_tile_slide_rejects_invalid_settings(pyramid, tiling, message):
    with Slide(pyramid) as slide, pytest.raises(InputError, match=message):
        tile_slide(slide, tiling)


def test_tile_slide_rejects_an_implausible_number_of_tiles(pyramid, monkeypatch):
    monkeypatch.setattr("bagwise.data.slides.slide_tiles.MAX_TILES", 1000)
    with Slide(pyramid) as slide:
        with pytest.raises(
            InputError, match="would have 3072 tiles, more than 1000; pass a larger --size or a smaller --overlap"
        ):
            tile_slide(slide, TilingSettings(size=32, mpp=0.25))
        with pytest.raises(InputError, match="would have 3072 tiles"):
            tile_slide(slide, TilingSettings(size=128, mpp=0.25, overlap=96))


@needs_real_slide
def test_tile_slide_of_the_real_slide_keeps_tiles_full_of_tissue():
    with Slide(REAL) as slide:
        tiles = tile_slide(slide, TilingSettings())
        pixels = np.stack([slide.read(x, y, tiles.extent, 256) for x, y in tiles.positions.tolist()])
    assert tiles.extent == 256
    assert 25 <= len(pixels) <= 45
    assert (pixels.mean(axis=(1, 2, 3)) < 225).all()
    assert (tiles.positions + 256 <= [2220, 2967]).all()
