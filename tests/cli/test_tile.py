"""bagwise tile, as a user runs it."""

import json

import numpy as np
import pytest

from command_line import bagwise, read_error
from data.slides.slide_files import REAL, needs_real_slide, write_pyramid

pytest.importorskip("openslide")


@pytest.fixture(scope="module")
def slides(tmp_path_factory):
    folder = tmp_path_factory.mktemp("slides")
    write_pyramid(folder / "one.tif")
    write_pyramid(folder / "mute.tif", np.full((512, 512, 3), 235, dtype=np.uint8), mpp=None, levels=1)
    return folder


def test_tile_writes_tiles_and_thumbnail_and_prints_next_step(slides, tmp_path):
    result = bagwise("tile", slides / "one.tif", "--out", "tiles", "--size", "128", cwd=tmp_path)
    assert result.returncode == 0, result
    assert "16 tiles on 1 slide\n" in result.stdout
    assert "next: bagwise extract tiles --out bags/" in result.stdout
    assert json.loads((tmp_path / "tiles" / "one.json").read_text())["tile_size"] == 256
    assert (tmp_path / "tiles" / "thumbnails" / "one.png").is_file()
    again = json.loads(
        bagwise("tile", slides / "one.tif", "--out", "tiles", "--size", "128", "--json", cwd=tmp_path).stdout
    )
    assert again == {"folder": "tiles", "tiles": {"one": 16}, "skipped": ["one"], "bad": {}}
    other = bagwise("tile", slides / "one.tif", "--out", "tiles", "--size", "64", "--skip-bad", cwd=tmp_path)
    assert "one.json was made with size 128, not 64; choose another --out" in read_error(other)


def test_tile_names_slide_without_resolution_and_the_option(slides, tmp_path):
    message = read_error(bagwise("tile", slides, "--out", tmp_path / "tiles", "--size", "128"))
    assert "mute.tif does not state its resolution; pass --slide-mpp" in message
    assert "add --skip-bad to leave such slides out" in message
    found = json.loads(
        bagwise("tile", slides, "--out", tmp_path / "tiles", "--skip-bad", "--size", "128", "--json").stdout
    )
    assert found["tiles"] == {"one": 16}
    assert list(found["bad"]) == ["mute"]
    output = bagwise("tile", slides / "mute.tif", "--out", tmp_path / "level", "--level", "0").stdout
    assert "no tissue found on mute: see" in output


def test_tile_rejects_contradicting_options(slides, tmp_path):
    both = bagwise("tile", slides, "--out", tmp_path, "--level", "0", "--mpp", "0.5")
    assert "pass --mpp (micrometres per pixel, e.g. --mpp 0.5) or --level, and not both" in read_error(both)
    assert "no such file or folder: nowhere" in read_error(bagwise("tile", "nowhere", "--out", tmp_path))
    (tmp_path / "words.svs").write_text("no slide")
    onto = bagwise("tile", slides / "one.tif", "--out", tmp_path / "words.svs", "--skip-bad")
    assert "words.svs is a file; give a folder" in read_error(onto)
    none = read_error(bagwise("tile", tmp_path, "--out", tmp_path / "tiles", "--skip-bad"))
    assert "none of the slides can be read: " in none
    assert "words.svs is not a slide that OpenSlide can read" in none
    assert not (tmp_path / "tiles").exists()


@needs_real_slide
def test_tile_real_slide(tmp_path):
    found = json.loads(bagwise("tile", REAL, "--out", tmp_path, "--json").stdout)
    assert 25 <= found["tiles"]["CMU-1-Small-Region"] <= 45
