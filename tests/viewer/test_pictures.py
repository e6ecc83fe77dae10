import numpy as np
import pytest
from PIL import Image

from bagwise.errors import InputError
from bagwise.explain.heatmaps.backgrounds import ImageBackground, open_background
from bagwise.explain.heatmaps.picture_folder import PictureFolder
from bagwise.runs.execution import execute_run
from bagwise.runs.open_run import OpenRun
from bagwise.runs.run import Run
from bagwise.viewer import pictures
from bagwise.viewer.pictures import TILE_SIDE, RunPictures, compute_max_level, encode_jpeg, encode_png, read_tile

WIDTH, HEIGHT = 700, 300


@pytest.fixture(scope="module")
def pixels():
    return np.random.default_rng(0).integers(0, 256, (HEIGHT, WIDTH, 3), dtype=np.uint8)


@pytest.fixture
def picture(pixels, tmp_path):
    Image.fromarray(pixels).save(tmp_path / "picture.png")
    return open_background(tmp_path / "picture.png")


def test_read_tile_at_the_maximum_level_reproduces_the_picture(picture, pixels):
    level = compute_max_level(picture)
    rows = [np.concatenate([read_tile(picture, level, column, row) for column in range(3)], axis=1) for row in range(2)]
    np.testing.assert_array_equal(np.concatenate(rows), pixels)
    assert read_tile(picture, level, 2, 1).shape == (HEIGHT - TILE_SIDE, WIDTH - 2 * TILE_SIDE, 3)


def test_read_tile_of_a_coarser_level_averages_pixels(picture, pixels):
    found = read_tile(picture, compute_max_level(picture) - 1, 1, 0).astype(float)
    column, row = 10, 20  # pixel (TILE_SIDE + 10, 20) of that level
    square = pixels[2 * row : 2 * row + 2, 2 * (TILE_SIDE + column) : 2 * (TILE_SIDE + column) + 2].astype(float)
    np.testing.assert_allclose(
        found[row, column], square.mean(axis=(0, 1)), atol=1
    )  # Pillow rounds rows and columns separately


def test_read_tile_assembles_coarse_tiles_from_finer_ones(picture, monkeypatch):
    at_once = read_tile(picture, 8, 0, 0).astype(int)
    monkeypatch.setattr(pictures, "READ_AT_ONCE", TILE_SIDE)
    reads = []
    read_square = ImageBackground.read_square
    monkeypatch.setattr(
        ImageBackground, "read_square", lambda self, *place: reads.append(place) or read_square(self, *place)
    )
    together = read_tile(picture, 8, 0, 0).astype(int)
    assert max(extent for _, _, extent, _ in reads) == TILE_SIDE
    assert np.abs(together - at_once)[: HEIGHT // 4, : WIDTH // 4].max() <= 2  # rounded twice instead of once


def test_read_tile_raises_index_error_for_unknown_tiles(picture):
    max_level = compute_max_level(picture)
    for place in ((max_level + 1, 0, 0), (max_level, 3, 0), (max_level, 0, 2), (0, 1, 0)):
        with pytest.raises(IndexError):
            read_tile(picture, *place)
    assert read_tile(picture, 0, 0, 0).shape == (1, 1, 3)


def test_encode_png_is_lossless_and_encode_jpeg_nearly(pixels, tmp_path):
    (tmp_path / "a.png").write_bytes(encode_png(pixels))
    np.testing.assert_array_equal(np.asarray(Image.open(tmp_path / "a.png")), pixels)
    smooth = np.broadcast_to(np.linspace(0, 255, 64).astype(np.uint8)[:, None, None], (64, 64, 3)).copy()
    (tmp_path / "a.jpg").write_bytes(encode_jpeg(smooth))
    assert np.abs(np.asarray(Image.open(tmp_path / "a.jpg")).astype(int) - smooth).max() <= 6


@pytest.fixture(scope="module")
def open_run(image_runs):
    return OpenRun(Run(image_runs / "attention"))


def read_pixels(path):
    return np.asarray(Image.open(path).convert("RGB"))


def test_get_bag_picture_opens_the_image_of_any_name(open_run, images):
    run_pictures = RunPictures(open_run)
    for bag, row in enumerate(open_run.run.predictions):
        found = run_pictures.get_bag_picture(bag)
        assert found.problem is None
        np.testing.assert_array_equal(
            found.background.read_square(0, 0, 64, 64), read_pixels(images / row["bag"])[:64, :64]
        )


def test_get_instance_picture_of_an_image_has_its_pixels(open_run, images):
    x, y = open_run.bag(0).positions[7].tolist()
    expected = read_pixels(images / open_run.run.predictions[0]["bag"])[y : y + 16, x : x + 16]
    np.testing.assert_array_equal(RunPictures(open_run).get_instance_picture(0, 7), expected)


def test_get_instance_picture_of_digits_works_without_a_bag_picture(digits_run):
    open_run = OpenRun(digits_run)
    run_pictures = RunPictures(open_run)
    assert run_pictures.get_bag_picture(0) == (None, None)
    digit, found = open_run.bag(0).instances[3].astype(float), run_pictures.get_instance_picture(0, 3).astype(float)
    assert np.corrcoef(digit.ravel(), found.ravel())[0, 1] > 0.9999
    with pytest.raises(IndexError):
        run_pictures.get_tile(0, 8, 0, 0)


def test_get_bag_picture_names_the_bag_missing_from_a_given_folder(open_run, tmp_path):
    found = RunPictures(open_run, PictureFolder.of_folder(tmp_path)).get_bag_picture(0)
    assert found.background is None
    assert f"no picture of bag '{open_run.run.predictions[0]['bag']}'" in found.problem


def test_get_bag_picture_does_not_follow_links_out_of_the_folder(open_run, images, tmp_path):
    row = next(row for row in open_run.run.predictions if row["bag"].startswith("dark/"))
    bag = open_run.run.predictions.index(row)
    (tmp_path / "dark").mkdir()
    (tmp_path / row["bag"]).symlink_to(images / row["bag"])
    assert RunPictures(open_run, PictureFolder.of_folder(tmp_path)).get_bag_picture(bag).background is None
    (tmp_path / row["bag"]).unlink()
    (tmp_path / row["bag"]).write_bytes((images / row["bag"]).read_bytes())
    assert RunPictures(open_run, PictureFolder.of_folder(tmp_path)).get_bag_picture(bag).background is not None


def test_get_bag_picture_reports_a_damaged_file(open_run, tmp_path):
    name = open_run.run.predictions[0]["bag"]
    (tmp_path / name).parent.mkdir(parents=True)
    (tmp_path / name).write_bytes(b"not an image")
    assert (
        "cannot be read as an image"
        in RunPictures(open_run, PictureFolder.of_folder(tmp_path)).get_bag_picture(0).problem
    )


def test_get_instance_picture_rejects_features_without_a_picture(tmp_path):
    data = {"data": "needles", "options": {"n_bags": 20}, "test": None, "split_seed": 1}
    run = execute_run(tmp_path / "run", {"data": data, "parameters": {"epochs": 1, "random_state": 1}})
    with pytest.raises(InputError, match="no picture"):
        RunPictures(OpenRun(run)).get_instance_picture(0, 0)
