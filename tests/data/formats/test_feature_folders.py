from pathlib import Path

import numpy as np
import pytest

from bagwise.data.formats import clam, slideflow, stamp, trident
from bagwise.data.formats.detection import open_feature_folder
from bagwise.data.formats.feature_folders import (
    SlideFeatures,
    check_slide_features,
    hash_source_files,
    list_source_files,
    list_stems,
    read_positive_attribute,
)
from bagwise.errors import InputError
from data.formats.foreign import clam_slide, features, grid, slideflow_slide, stamp_slide, trident_slide

PATH = Path("slide.h5")
ROWS = np.ones((3, 2))


def test_check_slide_features_rejects_positions_outside_the_slide():
    positions = np.array([[0, 0], [90, 10], [10, 90]])
    slide = SlideFeatures(ROWS, positions, 16)
    assert check_slide_features(PATH, slide, (100, 100)) is slide
    message = r"slide\.h5 has 1 positions outside the slide of 80 × 100 level-0 pixels, first \(90, 10\) in row 1"
    with pytest.raises(InputError, match=message):
        check_slide_features(PATH, slide, (80, 100))
    for bad in (-1.0, np.nan, np.inf):
        with pytest.raises(InputError, match="outside the slide, first"):
            check_slide_features(PATH, slide._replace(positions=np.where(positions == 90, bad, positions)))


def test_check_slide_features_requires_one_position_per_row_of_features():
    with pytest.raises(InputError, match=r"3 rows of features, but positions of shape \(2, 2\)"):
        check_slide_features(PATH, SlideFeatures(ROWS, np.ones((2, 2))))
    with pytest.raises(InputError, match=r"one row per tile, got float64 of shape \(3,\)"):
        check_slide_features(PATH, SlideFeatures(np.ones(3)))
    checked = check_slide_features(PATH, SlideFeatures(ROWS, None, 16))
    assert checked.tile_size is None, "a tile size is meaningless without positions"


def test_list_stems_skips_hidden_files_and_folders(tmp_path):
    for name in ("b.h5", "a.x.h5", ".temporary.h5", "c.pt"):
        (tmp_path / name).touch()
    (tmp_path / "folder.h5").mkdir()
    assert list_stems(tmp_path, ".h5") == ["a.x", "b"]


def test_read_positive_attribute_rejects_anything_but_positive_numbers():
    assert read_positive_attribute(PATH, {"size": 256}, "size") == 256.0
    assert read_positive_attribute(PATH, {}, "size") is None
    for value in (0, -1, "256", [256], float("nan"), True):
        with pytest.raises(InputError, match=r"slide\.h5: the attribute size must be a positive number, got"):
            read_positive_attribute(PATH, {"size": value}, "size")


OPENERS = {
    clam: ("open_h5", "read_tensor"),
    trident: ("open_h5",),
    stamp: ("open_h5",),
    slideflow: ("read_tensor", "read_npz", "read_json"),
}


def clam_tensor(folder, slide, rows, positions):
    return clam_slide(folder, slide, rows, positions, as_tensor=True)


def clam_both(folder, slide, rows, positions):
    clam_tensor(folder, slide, rows, positions)
    return clam_slide(folder, slide, rows, positions, patches=False)


WRITERS = [clam_slide, clam_tensor, clam_both, trident_slide, stamp_slide, slideflow_slide]


@pytest.fixture(params=WRITERS, ids=lambda write: write.__name__)
def two_slides(request, tmp_path):
    for slide in ("s1", "s2"):
        folder = request.param(tmp_path / "tool", slide, features(), grid() + 128)
    return open_feature_folder(folder, mpp=0.5).features


def test_list_source_files_lists_exactly_the_files_that_read_opens(two_slides, monkeypatch):
    opened = set()

    def record(function):
        def call(path, *arguments):
            opened.add(path)
            return function(path, *arguments)

        return call

    for module, names in OPENERS.items():
        for name in names:
            monkeypatch.setattr(module, name, record(getattr(module, name)))
    two_slides.read("s1")
    assert {path for path in list_source_files(two_slides, "s1") if path is not None} == opened


def test_hash_source_files_changes_with_any_byte_of_the_slides_own_files(two_slides):
    first, second = hash_source_files(two_slides, "s1"), hash_source_files(two_slides, "s2")
    assert first == hash_source_files(two_slides, "s1")
    for path in [path for path in list_source_files(two_slides, "s1") if path is not None]:
        content = path.read_bytes()
        path.write_bytes(content + b" ")
        assert hash_source_files(two_slides, "s1") != first
        is_shared = path in list_source_files(two_slides, "s2")
        assert (hash_source_files(two_slides, "s2") == second) == (not is_shared)
        path.write_bytes(content)
    assert hash_source_files(two_slides, "s1") == first


def test_hash_source_files_changes_when_a_file_is_removed(two_slides):
    before = hash_source_files(two_slides, "s1")
    list_source_files(two_slides, "s1")[0].unlink()
    assert hash_source_files(two_slides, "s1") != before


def test_list_source_files_is_the_same_for_a_relative_folder(tmp_path, monkeypatch):
    """CLAM's positions are beside the folder, whose parent is not part of a relative path."""
    folder = clam_slide(tmp_path / "tool", "s1", features(), grid() + 128)
    absolute = list_source_files(open_feature_folder(folder, mpp=0.5).features, "s1")
    monkeypatch.chdir(folder)
    assert list_source_files(open_feature_folder(Path(), mpp=0.5).features, "s1")[0] == absolute[0]
