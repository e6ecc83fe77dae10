"""Tiles land on the right level-0 pixels, inside the slide, on tissue."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bagwise.errors import InputError
from bagwise.slides.slide import Slide
from bagwise.slides.tiling import Wish, positions, tile, tissue_share
from slides.slide_files import HEIGHT, REAL, TISSUE, WIDTH, needs_real_slide, painted, write_pyramid

pytest.importorskip("openslide")


@pytest.fixture(scope="module")
def pyramid(tmp_path_factory):
    path = tmp_path_factory.mktemp("pyramid") / "pyramid.tif"
    write_pyramid(path)
    return path


@pytest.mark.parametrize(
    ("wish", "extent"),
    [
        (Wish(size=128, mpp=None, level=0), 128),
        (Wish(size=32, mpp=None, level=1), 128),
        (Wish(size=16, mpp=None, level=2), 256),
        (Wish(size=64, mpp=0.5), 128),
        (Wish(size=64, mpp=1.0), 256),
        (Wish(size=100, mpp=0.25), 100),
        (Wish(size=100, mpp=0.253), 100),  # near the level's own: no resampling
        (Wish(size=64, mpp=0.75, overlap=16), 192),
    ],
)
def test_tiles_lie_on_the_tissue_and_inside_the_slide(pyramid, wish, extent):
    with Slide(pyramid) as slide:
        tiles = tile(slide, wish)
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
    step = extent * (1 - wish.overlap / wish.size)
    inner = ((right - left) / step - 2) * ((bottom - top) / step - 2)
    assert len(tiles.positions) >= inner  # no tile within the tissue is missing


@pytest.mark.parametrize("wish", [Wish(size=64, mpp=0.25), Wish(size=32, mpp=0.5), Wish(size=16, mpp=None, level=1)])
def test_a_hot_spot_is_in_the_tile_whose_position_says_so(tmp_path, wish):
    picture = painted().copy()
    picture[704:768, 960:1024] = (250, 10, 10)  # tile (15, 11) of 64 level-0 pixels
    write_pyramid(tmp_path / "hot.tif", picture)
    with Slide(tmp_path / "hot.tif") as slide:
        tiles = tile(slide, wish)
        pixels = np.stack([slide.read(x, y, tiles.extent, wish.size) for x, y in tiles.positions.tolist()])
    hot = (pixels[..., 0] > 240) & (pixels[..., 1] < 20)
    share = hot.mean(axis=(1, 2))
    assert tiles.positions[share > 0].tolist() == [[960, 704]]
    assert share.max() == 1


def test_neighbours_share_the_overlap():
    corners = positions(1000, 400, extent=128, step=128 * (1 - 32 / 256))
    columns = np.unique(corners[:, 0])
    assert np.diff(columns).tolist() == [112] * (len(columns) - 1)


@settings(max_examples=50, deadline=None, derandomize=True)
@given(st.integers(1, 300), st.integers(1, 300), st.integers(1, 60), st.floats(0.05, 1))
def test_the_grid_is_complete_and_inside(width, height, extent, share):
    corners = positions(width, height, extent, max(1.0, extent * share))
    if min(width, height) < extent:
        assert len(corners) == 0
        return
    assert corners.min() == 0
    assert (corners + extent <= [width, height]).all()
    assert len(np.unique(corners, axis=0)) == len(corners)
    step = max(1.0, extent * share)
    assert (corners.max(axis=0) + extent > np.array([width, height]) - step - 1).all()  # no further tile would fit


def test_the_share_of_tissue_is_counted_on_the_mask():
    mask = np.zeros((10, 20), dtype=bool)
    mask[:, 10:] = True
    corners = np.array([[0, 0], [80, 0], [100, 0], [96, 60]])
    assert tissue_share(mask, corners, extent=40, scale=10).tolist() == [0, 0.5, 1, 1]
    assert tissue_share(mask, np.array([[102, 3]]), extent=2, scale=10).tolist() == [1]  # smaller than a mask pixel


def test_no_tissue_gives_no_tile_and_tissue_zero_keeps_all(tmp_path):
    blank = np.full((512, 768, 3), 240, dtype=np.uint8)
    write_pyramid(tmp_path / "blank.tif", blank, levels=1)
    with Slide(tmp_path / "blank.tif") as slide:
        assert tile(slide, Wish(128, 0.25)).positions.shape == (0, 2)
        assert tile(slide, Wish(128, 0.25, tissue=0)).positions.shape == (24, 2)


@pytest.mark.parametrize(
    ("wish", "message"),
    [
        (Wish(mpp=0.1), r"has 0.25 micrometres a pixel; 0.1 would invent pixels: pass --mpp 0.25 or more"),
        (Wish(mpp=None, level=3), "has no level 3; its levels are 0 to 2"),
        (Wish(mpp=None), "pass --mpp .* or --level"),
        (Wish(level=0), "not both"),
        (Wish(overlap=256), "below the size"),
        (Wish(size=0), "size is 0"),
        (Wish(size=20_000), "a tile has at most 16384 pixels a side"),
        (Wish(tissue=1.5), "tissue is 1.5"),
        (Wish(mpp=40), "mpp is 40"),
        (Wish(size=4000), "pass a smaller --size"),
        (Wish(size=100, mpp=0.25, overlap=99, smallest=float("nan")), "smallest is nan"),
    ],
)
def test_impossible_wishes_are_refused(pyramid, wish, message):
    with Slide(pyramid) as slide, pytest.raises(InputError, match=message):
        tile(slide, wish)


def test_more_tiles_than_any_slide_has_are_refused(pyramid, monkeypatch):
    monkeypatch.setattr("bagwise.slides.tiling.MOST_TILES", 1000)
    with Slide(pyramid) as slide:
        with pytest.raises(InputError, match="would have 3072 tiles; pass a larger --size or a smaller --overlap"):
            tile(slide, Wish(size=32, mpp=0.25))
        with pytest.raises(InputError, match="would have 3072 tiles"):
            tile(slide, Wish(size=128, mpp=0.25, overlap=96))


@needs_real_slide
def test_the_real_slide_has_tiles_full_of_tissue():
    with Slide(REAL) as slide:
        tiles = tile(slide, Wish())
        pixels = np.stack([slide.read(x, y, tiles.extent, 256) for x, y in tiles.positions.tolist()])
    assert tiles.extent == 256
    assert 25 <= len(pixels) <= 45
    assert (pixels.mean(axis=(1, 2, 3)) < 225).all()
    assert (tiles.positions + 256 <= [2220, 2967]).all()
