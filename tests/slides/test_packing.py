"""Packing: labels choose the slides, damaged feature files are refused, nothing is half-written."""

import json

import numpy as np
import pytest

from bagwise.errors import InputError
from bagwise.slides.extraction import feature_file
from bagwise.slides.labels import Labelled
from bagwise.slides.packing import pack
from bagwise.slides.tile_files import KIND, list_tiles
from bagwise.storage import load_bags


class MeanColour:
    """An extractor that made its features elsewhere."""

    name = "mean colour"

    def features(self, tiles):
        raise AssertionError("packing extracts nothing")


MEAN = MeanColour()


@pytest.fixture
def tiles(tmp_path):
    """Tile files of three slides, and features of their 16 tiles."""
    folder = tmp_path / "tiles"
    folder.mkdir()
    corners = [[64 * x, 64 * y] for y in range(4) for x in range(4)]
    facts = {"kind": KIND, "version": 1, "mpp": 0.5, "size": 64, "tile_size": 64, "wish": {}, "positions": corners}
    for number in range(3):
        slide = {"slide": f"slide-{number}.tif", "width": 256, "height": 256}
        (folder / f"slide-{number}.json").write_text(json.dumps(facts | slide))
    for number, entry in enumerate(list_tiles(folder)):
        path = feature_file(entry, MEAN)
        path.parent.mkdir(exist_ok=True)
        np.save(path, np.full((16, 3), number, dtype=np.float16))
    return folder


def test_labels_choose_the_slides_and_give_groups(tiles, tmp_path):
    labels = {"slide-2": Labelled(1, "p"), "slide-0": Labelled(0, "q"), "other": Labelled(1, "r")}
    assert pack(tiles, tmp_path / "bags", MEAN, labels) == 2
    bags = load_bags(tmp_path / "bags")
    assert (bags.names.tolist(), bags.labels.tolist()) == (["slide-0", "slide-2"], [0, 1])
    assert bags.groups.tolist() == ["q", "p"]
    with pytest.raises(InputError, match="no slide is left to pack"):
        pack(tiles, tmp_path / "bags", MEAN, {"other": Labelled(1, None)})


def test_regions_become_bags_with_their_own_rows(tiles, tmp_path):
    for entry in list_tiles(tiles):
        np.save(feature_file(entry, MEAN), entry.positions.astype(np.float16))
    assert pack(tiles, tmp_path / "bags", MEAN, side=128) == 12
    bags = load_bags(tmp_path / "bags")
    assert bags.names[:4].tolist() == ["slide-0@0-0", "slide-0@128-0", "slide-0@0-128", "slide-0@128-128"]
    assert bags.sizes.tolist() == [4] * 12
    np.testing.assert_array_equal(bags.instances, bags.positions)
    np.testing.assert_array_equal(bags.positions[bags.offsets[:4]], [[0, 0], [128, 0], [0, 128], [128, 128]])


def test_regions_of_one_slide_of_several_stay_together_unless_cases_say_otherwise(tiles, tmp_path):
    def groups(labels):
        pack(tiles, tmp_path / "bags", MEAN, labels, side=128)
        found = load_bags(tmp_path / "bags").groups
        return None if found is None else found.tolist()

    names = ["slide-0@0-0", "slide-0@128-0", "slide-2@0-128"]
    assert groups({name: Labelled(1, None) for name in names}) == ["slide-0", "slide-0", "slide-2"]
    assert groups({name: Labelled(1, "p") for name in names}) == ["p", "p", "p"]
    assert groups({name: Labelled(1, None) for name in names[:2]}) is None  # one slide: its regions must be parted


def test_damaged_features_are_refused_by_name(tiles, tmp_path):
    path = feature_file(list_tiles(tiles)[1], MEAN)
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(InputError, match=r"slide-1.*is damaged .* remove it and run bagwise extract again"):
        pack(tiles, tmp_path / "bags", MEAN)
    np.save(path, np.zeros((2, 3), dtype=np.float16))
    with pytest.raises(InputError, match="has 2 rows for 16 tiles"):
        pack(tiles, tmp_path / "bags", MEAN)
    path.unlink()
    with pytest.raises(InputError, match="is missing; run bagwise extract again"):
        pack(tiles, tmp_path / "bags", MEAN)
    assert not (tmp_path / "bags").exists()
