import contextlib
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bagwise.data.slides.slide import Slide, list_slides
from bagwise.errors import InputError
from data.slides.damage import damaged
from data.slides.slide_files import HEIGHT, REAL, WIDTH, needs_real_slide, write_pyramid

pytest.importorskip("openslide")


@pytest.fixture(scope="module")
def pyramid(tmp_path_factory):
    path = tmp_path_factory.mktemp("pyramid") / "pyramid.tif"
    return path, write_pyramid(path)


def test_slide_has_size_levels_and_resolution(pyramid):
    with Slide(pyramid[0]) as slide:
        assert (slide.width, slide.height) == (WIDTH, HEIGHT)
        assert slide.downsamples == (1, 4, 16)
        assert slide.mpp == pytest.approx(0.25)


@pytest.mark.parametrize(("level", "factor"), [(0, 1), (1, 4), (2, 16)])
def test_slide_read_at_a_level_returns_the_pixels_of_that_level(pyramid, level, factor):
    path, pictures = pyramid
    with Slide(path) as slide:
        found = slide.read(640, 384, 64 * factor, 64)
    x, y = 640 // factor, 384 // factor
    np.testing.assert_array_equal(found, pictures[level][y : y + 64, x : x + 64])


def test_slide_read_between_levels_averages_the_finer_level(pyramid):
    path, pictures = pyramid
    with Slide(path) as slide:
        found = slide.read(600, 400, 128, 64).astype(float)
    squares = pictures[0][400:528, 600:728].reshape(64, 2, 64, 2, 3).mean(axis=(1, 3))
    np.testing.assert_allclose(found, squares, atol=1)


def test_slide_read_beyond_the_slide_is_white(pyramid):
    with Slide(pyramid[0]) as slide:
        assert (slide.read(WIDTH - 10, HEIGHT - 10, 20, 20)[10:, 10:] == 255).all()


@pytest.mark.parametrize("scale", [3, 8, 16, 50])
def test_slide_overview_read_in_blocks_is_the_downsampled_slide(pyramid, scale, monkeypatch):
    path, pictures = pyramid
    monkeypatch.setattr("bagwise.data.slides.slide.MAX_READ", 300)
    with Slide(path) as slide:
        found = slide.overview(scale)
    height, width = HEIGHT // scale, WIDTH // scale
    assert found.shape == (height, width, 3)
    whole = pictures[0][: height * scale, : width * scale].reshape(height, scale, width, scale, 3).mean(axis=(1, 3))
    inner = np.abs(found.astype(float) - whole)
    assert np.median(inner) <= 2
    assert np.quantile(inner, 0.97) <= 12  # only pixels on the border of the tissue may be averaged differently


def test_slide_require_mpp_names_the_options_for_a_slide_without_resolution(tmp_path):
    write_pyramid(tmp_path / "unknown.tif", np.full((256, 256, 3), 200, dtype=np.uint8), mpp=None, levels=1)
    with (
        Slide(tmp_path / "unknown.tif") as slide,
        pytest.raises(InputError, match=r"unknown.tif .*--slide-mpp 0.25 .* or --level 0"),
    ):
        slide.require_mpp()
    with Slide(tmp_path / "unknown.tif", mpp=0.5) as slide:
        assert slide.require_mpp() == 0.5


def test_slide_ignores_a_resolution_for_printing(tmp_path):
    write_pyramid(tmp_path / "print.tif", np.full((256, 256, 3), 200, dtype=np.uint8), mpp=352.8, levels=1)
    with Slide(tmp_path / "print.tif") as slide:
        assert slide.mpp is None


def test_slide_rejects_other_files_by_name(tmp_path, pyramid):
    (tmp_path / "words.svs").write_text("no slide")
    cut = tmp_path / "cut.tif"
    cut.write_bytes(pyramid[0].read_bytes()[:5000])
    for path in (tmp_path / "words.svs", cut, tmp_path / "missing.svs", tmp_path):
        with pytest.raises(InputError, match=path.name):
            Slide(path)


def test_slide_rejects_a_file_that_declares_more_than_it_can_contain(tmp_path):
    tifffile = pytest.importorskip("tifffile")
    blocks = (b"" for _ in range(25 * 25))  # empty blocks need no space in the file, but hours to read
    with tifffile.TiffWriter(tmp_path / "bomb.tif") as tiff:
        options = {"tile": (4096, 4096), "photometric": "rgb", "compression": "zlib", "metadata": None}
        tiff.write(blocks, shape=(100_000, 100_000, 3), dtype=np.uint8, **options)
    assert (tmp_path / "bomb.tif").stat().st_size < 50_000
    with pytest.raises(InputError, match=r"bomb.tif .*30,000,000,000 bytes of pixels"):
        Slide(tmp_path / "bomb.tif")


def test_slide_read_names_the_slide_and_the_position_of_damage(tmp_path, monkeypatch):
    write_pyramid(tmp_path / "bad.tif", levels=1)
    with Slide(tmp_path / "bad.tif") as slide:

        def fail(*_):
            raise RuntimeError("JPEG is broken")

        monkeypatch.setattr(slide._handle, "read_region", fail)
        with pytest.raises(InputError, match=r"bad.tif cannot be read at \(5, 7\): JPEG is broken"):
            slide.read(5, 7, 64, 64)


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    path = tmp_path_factory.mktemp("small") / "small.tif"
    write_pyramid(path, np.random.default_rng(0).integers(0, 256, (96, 128, 3), dtype=np.uint8), levels=2)
    return path


def read_damaged(small, seed):
    """Check that a damaged slide is rejected, or that an overview and a region can be read."""
    path = small.with_name("damaged.tif")
    path.write_bytes(damaged(small.read_bytes(), seed))
    with contextlib.suppress(InputError), Slide(path) as slide:
        scale = max(1, max(slide.width, slide.height) // 100)
        assert slide.overview(scale).ndim == 3
        assert slide.read(10, 20, 64, 32).shape == (32, 32, 3)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.integers(0, 1_000_000))
def test_slide_reads_or_rejects_damaged_files(small, seed):
    read_damaged(small, seed)


@pytest.mark.full
@settings(max_examples=3000, deadline=None)
@given(st.integers(0, 1_000_000))
def test_slide_reads_or_rejects_randomly_damaged_files(small, seed):
    read_damaged(small, seed)


def test_list_slides_lists_each_slide_once(tmp_path):
    for name in ("b.svs", "a.tif", "notes.txt", "._b.svs", "deeper/c.NDPI"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert [path.name for path in list_slides([tmp_path])] == ["a.tif", "b.svs", "c.NDPI"]
    assert len(list_slides([tmp_path, tmp_path / "a.tif"])) == 3
    (tmp_path / "deeper" / "a.svs").touch()
    with pytest.raises(InputError, match=r"a\.tif and .*a\.svs have the same name"):
        list_slides([tmp_path])
    with pytest.raises(InputError, match="no such file or folder"):
        list_slides([tmp_path / "nowhere"])
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "folder.tif").mkdir()
    with pytest.raises(InputError, match="contains no slides"):
        list_slides([tmp_path / "empty"])


def test_list_slides_includes_broken_links_which_slide_rejects_by_name(tmp_path):
    (tmp_path / "gone.svs").symlink_to(tmp_path / "nowhere.svs")
    with pytest.raises(InputError, match=r"no such file: .*gone.svs"):
        Slide(list_slides([tmp_path])[0])


@needs_real_slide
def test_slide_opens_the_real_slide():
    with Slide(REAL) as slide:
        assert (slide.width, slide.height) == (2220, 2967)
        assert slide.mpp == pytest.approx(0.499)
        tile = slide.read(1000, 1500, 256, 256)
    assert tile.shape == (256, 256, 3)
    assert tile.std() > 10


def test_slide_without_openslide_names_the_package_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "openslide", None)
    monkeypatch.setattr("bagwise.io.optional_packages.find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"pip install 'bagwise\[slides\]'"):
        Slide("any.svs")
