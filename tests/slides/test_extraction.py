"""Extraction: cut and resumed, or shared by processes, it gives the same files; the bags are the tiles' features."""

import contextlib
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from bagwise.claims import claimed
from bagwise.errors import InputError
from bagwise.manifests import damages
from bagwise.slides.extraction import extract, feature_file
from bagwise.slides.labels import Labelled
from bagwise.slides.packing import pack
from bagwise.slides.promised import Promised
from bagwise.slides.slide import Slide
from bagwise.slides.tile_files import list_tiles, tile_to_file
from bagwise.slides.tiling import Wish
from bagwise.storage import load_bags
from local_cluster import local_cluster
from slides.mean_colour import MeanColour, mean_colour_elsewhere, not_there, told_mean_colour
from slides.slide_files import REAL, needs_real_slide, write_pyramid

pytest.importorskip("openslide")
WISH = Wish(size=64, mpp=0.25)

SLOW = """
import sys, time
import numpy as np
from bagwise.slides.extraction import extract

class Slow:
    name = "mean colour"

    def features(self, tiles):
        time.sleep(0.05)
        return (tiles.mean(axis=(1, 2)) / 255).astype(np.float16)

found = extract(sys.argv[1], Slow(), batch_size=2)
print(",".join(found.done), len(found.elsewhere), sep=";")
"""


MEAN = MeanColour()


def make_tiles(folder, count):
    """Small slides, each with 16 tiles of tissue."""
    for number in range(count):
        picture = np.full((512, 512, 3), 235, dtype=np.uint8)
        grain = np.random.default_rng(number).integers(0, 40, (256, 256, 1))
        picture[128:384, 128:384] = (np.array([150, 70, 160]) + grain).astype(np.uint8)
        write_pyramid(folder / f"slide-{number}.tif", picture, levels=2)
        tile_to_file(folder / f"slide-{number}.tif", folder / "tiles", WISH)
    return folder / "tiles"


def feature_files(tiles):
    return {path.name: path.read_bytes() for path in tiles.glob("features-*/*.npy")}


def bytes_of(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def left_behind(tiles):
    return [path.name for path in tiles.glob("features-*/*") if path.suffix != ".npy"]


@pytest.fixture
def tiles(tmp_path):
    return make_tiles(tmp_path, 3)


def test_features_are_those_of_the_tiles_in_their_order(tiles, tmp_path):
    result = extract(tiles, MEAN, batch_size=5)
    assert result.done == ["slide-0", "slide-1", "slide-2"]
    assert pack(tiles, tmp_path / "bags", MEAN) == 3
    bags = load_bags(tmp_path / "bags")
    assert (bags.extractor, bags.instances.dtype, bags.labels) == ("mean colour", np.float16, None)
    assert bags.tile_sizes.tolist() == [64] * 3
    for bag, entry in enumerate(list_tiles(tiles)):
        rows = slice(bags.offsets[bag], bags.offsets[bag + 1])
        np.testing.assert_array_equal(bags.positions[rows], entry.positions)
        with Slide(entry.slide) as slide:
            pixels = np.stack([slide.read(x, y, 64, 64) for x, y in entry.positions.tolist()])
        np.testing.assert_allclose(bags.instances[rows], pixels.mean(axis=(1, 2)) / 255, atol=1e-3)
    assert damages(tmp_path / "bags") == []
    assert left_behind(tiles) == []


def test_pixels_are_the_tiles_themselves(tiles, tmp_path):
    extract(tiles, None)
    pack(tiles, tmp_path / "bags", None)
    bags = load_bags(tmp_path / "bags")
    assert bags.extractor is None
    assert bags.instances.dtype == np.uint8
    assert bags.instance_shape == (64, 64, 3)
    entry = list_tiles(tiles)[0]
    with Slide(entry.slide) as slide:
        np.testing.assert_array_equal(bags.instances[3], slide.read(*entry.positions[3].tolist(), 64, 64))


def test_done_slides_are_skipped_and_new_tiles_get_new_features(tiles, tmp_path):
    extract(tiles, MEAN)
    before = feature_files(tiles)
    again = extract(tiles, MEAN)
    assert again.skipped == ["slide-0", "slide-1", "slide-2"]
    assert feature_files(tiles) == before
    (tiles / "slide-1.json").unlink()
    tile_to_file(tmp_path / "slide-1.tif", tiles, WISH._replace(overlap=32))
    assert extract(tiles, MEAN).done == ["slide-1"]


def test_bad_slides_are_named_and_skipped_on_demand(tiles, tmp_path):
    (tmp_path / "slide-1.tif").write_text("no slide")
    with pytest.raises(InputError, match=r"slide-1.tif is not a slide"):
        extract(tiles, MEAN)
    result = extract(tiles, MEAN, skip_bad=True)
    assert list(result.bad) == ["slide-1"]
    assert pack(tiles, tmp_path / "bags", MEAN, leave_out=tuple(result.bad)) == 2
    assert left_behind(tiles) == []


@pytest.mark.skipif(not hasattr(signal, "SIGXFSZ"), reason="no limit on file sizes here")
def test_a_full_disk_is_an_error_and_leaves_nothing_behind(tiles):
    """A limit on the size of files stands in for the disk; a memory map would end the process instead."""
    import resource

    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, before[1][1]))
    try:
        with pytest.raises(OSError, match="File too large"):
            extract(tiles, None)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before[1])
        signal.signal(signal.SIGXFSZ, before[0])
    assert feature_files(tiles) == {}
    assert left_behind(tiles) == []


def test_another_slide_under_the_same_name_is_refused(tiles, tmp_path):
    write_pyramid(tmp_path / "slide-0.tif", np.full((300, 512, 3), 200, dtype=np.uint8), levels=1)
    with pytest.raises(InputError, match="its size differs"):
        extract(tiles, MEAN)


def test_moved_slides_are_found(tiles, tmp_path):
    (tmp_path / "moved").mkdir()
    for slide in tmp_path.glob("*.tif"):
        slide.rename(tmp_path / "moved" / slide.name)
    with pytest.raises(InputError, match=r"slide-0.tif is not a file"):
        extract(tiles, MEAN)
    assert len(extract(tiles, MEAN, slides=tmp_path / "moved").done) == 3
    with pytest.raises(InputError, match=r"holds no slide-0.tif"):
        extract(tiles, None, slides=tiles)


def test_slides_without_tiles_are_set_aside(tmp_path):
    tiles = make_tiles(tmp_path, 1)
    write_pyramid(tmp_path / "blank.tif", np.full((512, 512, 3), 240, dtype=np.uint8), levels=1)
    tile_to_file(tmp_path / "blank.tif", tiles, WISH)
    result = extract(tiles, MEAN)
    assert (result.empty, result.done) == (["blank"], ["slide-0"])
    assert pack(tiles, tmp_path / "bags", MEAN) == 1


def test_slides_that_another_process_ends_meanwhile_are_found_done(tiles):
    """It ends slide-0, and dies over slide-1, while this one works on slide-2."""
    first, second, _ = list_tiles(tiles)
    held = contextlib.ExitStack()
    for entry in (first, second):
        assert held.enter_context(claimed(feature_file(entry, MEAN).with_name(f"{entry.name}.claim")))

    class Watching(MeanColour):
        def features(self, batch):
            if not feature_file(first, MEAN).exists():
                held.close()
                np.save(feature_file(first, MEAN), np.zeros((16, 3), dtype=np.float16))
            return super().features(batch)

    found = extract(tiles, Watching())
    assert (found.done, found.skipped, found.elsewhere) == (["slide-1", "slide-2"], ["slide-0"], {})


def start(tiles):
    return subprocess.Popen([sys.executable, "-c", SLOW, str(tiles)], stdout=subprocess.PIPE, text=True)


def wait_for(condition, process):
    limit = time.monotonic() + 60
    while not condition():
        assert process.poll() is None
        assert time.monotonic() < limit
        time.sleep(0.01)


def test_killed_midway_and_resumed_the_files_are_identical(tiles, tmp_path):
    process = start(tiles)
    try:  # one slide is done, another has begun
        wait_for(lambda: feature_files(tiles) and any(name.endswith(".draft") for name in left_behind(tiles)), process)
    finally:
        process.send_signal(signal.SIGKILL)
        process.communicate()
    done = feature_files(tiles)
    assert 1 <= len(done) < 3
    assert any(name.endswith(".claim") for name in left_behind(tiles))
    result = extract(tiles, MEAN, batch_size=2)
    assert len(result.skipped) == len(done)
    assert result.elsewhere == {}
    assert left_behind(tiles) == []
    (tmp_path / "other").mkdir()
    whole = make_tiles(tmp_path / "other", 3)
    extract(whole, MEAN, batch_size=2)
    assert feature_files(tiles) == feature_files(whole)


def test_two_processes_share_a_folder_without_doing_a_slide_twice(tmp_path):
    tiles = make_tiles(tmp_path, 6)
    processes = [start(tiles), start(tiles)]
    said = [process.communicate(timeout=120)[0].strip().split(";") for process in processes]
    assert [process.returncode for process in processes] == [0, 0]
    assert sorted(",".join(done for done, _ in said if done).split(",")) == [f"slide-{number}" for number in range(6)]
    assert any(elsewhere == "0" for _, elsewhere in said)  # the last one knows that all is done
    assert left_behind(tiles) == []


def test_workers_give_the_same_bags_and_build_the_extractor_once_each(tmp_path):
    """Six slides by two processes; the bags bear the hashes of those of one process."""
    tiles = make_tiles(tmp_path, 6)
    (tmp_path / "built").mkdir()
    promised, heard = Promised("mean colour", told_mean_colour, (tmp_path / "built",)), []
    found = extract(tiles, promised, batch_size=2, workers=2, progress=lambda *told: heard.append(told))
    assert (found.done, heard[-1]) == ([f"slide-{number}" for number in range(6)], (6, 6))
    assert 1 <= len(list((tmp_path / "built").iterdir())) <= 2
    of_two = feature_files(tiles)
    pack(tiles, tmp_path / "two", promised)
    shutil.rmtree(tiles / "features-mean-colour")
    extract(tiles, MEAN)
    pack(tiles, tmp_path / "one", MEAN)
    assert feature_files(tiles) == of_two
    assert bytes_of(tmp_path / "two") == bytes_of(tmp_path / "one")
    assert left_behind(tiles) == []


def test_a_cluster_gives_the_same_features_from_any_folder(tiles, tmp_path, monkeypatch):
    extract(tiles, MEAN)
    here = feature_files(tiles)
    shutil.rmtree(tiles / "features-mean-colour")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "elsewhere").mkdir()
    away = Promised("mean colour", mean_colour_elsewhere, (tmp_path / "elsewhere",))
    with local_cluster() as cluster:
        assert len(extract("tiles", away, workers=cluster).done) == 3
    assert feature_files(tiles) == here


def test_an_extractor_that_cannot_be_built_is_no_fault_of_the_slides(tiles):
    with pytest.raises(InputError, match="extractor 'x' is unknown"):
        extract(tiles, Promised("x", not_there, ("x",)), skip_bad=True)
    assert list(tiles.glob("features-*/*")) == []


@needs_real_slide
def test_the_real_slide_becomes_a_bag(tmp_path):
    tile_to_file(REAL, tmp_path / "tiles", Wish(size=128, mpp=1.0))
    extract(tmp_path / "tiles", MEAN)
    pack(tmp_path / "tiles", tmp_path / "bags", MEAN, {"CMU-1-Small-Region": Labelled("tumour", None)})
    bags = load_bags(tmp_path / "bags")
    assert bags.n_instances > 25
    assert bags.tile_sizes.tolist() == [257]
    assert bags.instances.max() < 0.95
