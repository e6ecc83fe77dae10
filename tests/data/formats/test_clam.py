import numpy as np
import pytest

from bagwise.data.formats.clam import Clam
from bagwise.errors import InputError
from data.formats.foreign import clam_slide, features, grid


@pytest.mark.parametrize("as_tensor", [False, True])
def test_clam_reads_features_level_0_positions_and_tile_size(tmp_path, as_tensor):
    folder = clam_slide(tmp_path, "s1", features(), grid(), as_tensor=as_tensor)
    clam = Clam(folder)
    assert clam.slides() == ["s1"]
    slide = clam.read("s1")
    np.testing.assert_array_equal(slide.features, features())
    np.testing.assert_array_equal(slide.positions, grid())
    assert slide.tile_size == 512, "256 pixels at a level of half the size"
    assert slide.extractor is None
    assert Clam(folder / ("pt_files" if as_tensor else "h5_files")).read("s1").tile_size == 512


def test_clam_accepts_one_downsample_or_two_that_nearly_agree(tmp_path):
    folder = clam_slide(tmp_path, "s1", features(), grid(), downsample=4.0)
    assert Clam(folder).read("s1").tile_size == 1024
    clam_slide(tmp_path, "s1", features(), grid(), downsample=(4.0, 4.002))
    assert Clam(folder).read("s1").tile_size == pytest.approx(1024.256)
    clam_slide(tmp_path, "s1", features(), grid(), downsample=(4.0, 5.0))
    with pytest.raises(InputError, match=r"s1\.h5: the attribute downsample .* is 4 horizontally and 5 vertically"):
        Clam(folder).read("s1")
    clam_slide(tmp_path, "s1", features(), grid(), downsample=(4.0, 4.0, 4.0))
    with pytest.raises(InputError, match=r"must be one or two positive numbers, got \[4\.0, 4\.0, 4\.0\]"):
        Clam(folder).read("s1")


def test_clam_without_patch_files_has_no_tile_size_and_a_note(tmp_path):
    folder = clam_slide(tmp_path, "s1", features(), grid(), patches=False)
    slide = Clam(folder).read("s1")
    assert slide.tile_size is None
    assert slide.positions is not None
    assert "--patches" in slide.note


def test_clam_reads_patch_files_from_a_given_folder(tmp_path):
    clam_slide(tmp_path / "a", "s1", features(), grid())
    folder = clam_slide(tmp_path / "b", "s1", features(), grid(), patches=False)
    assert Clam(folder, patches=tmp_path / "a" / "patches").read("s1").tile_size == 512


def test_clam_rejects_positions_of_another_slide(tmp_path):
    folder = clam_slide(tmp_path, "s1", features(), grid(step=5000))
    with pytest.raises(InputError, match="positions outside the slide of 8002 × 8002"):
        Clam(folder).read("s1")
    clam_slide(tmp_path, "s1", features(), grid(4))
    with pytest.raises(InputError, match="5 rows of features, but positions of shape"):
        Clam(folder).read("s1")
    with pytest.raises(InputError, match="no features of slide 's2'"):
        Clam(folder).read("s2")
