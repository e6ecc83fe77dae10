import numpy as np
import pytest

from bagwise.errors import InputError
from bagwise.formats.stamp import Stamp
from formats.foreign import features, grid, stamp_slide

MICROMETRES = grid(step=256).astype(float)


def test_micrometres_become_level_0_pixels(tmp_path):
    slide = Stamp(stamp_slide(tmp_path, "s1", features(), MICROMETRES), mpp=0.25).read("s1")
    np.testing.assert_array_equal(slide.features, features())
    np.testing.assert_allclose(slide.positions, MICROMETRES * 4)
    assert slide.tile_size == 1024
    assert slide.extractor == "ctranspath"


def test_without_the_resolution_there_are_no_positions_and_it_is_said(tmp_path):
    slide = Stamp(stamp_slide(tmp_path, "s1", features(), MICROMETRES)).read("s1")
    assert slide.positions is None
    assert slide.tile_size is None
    assert "--mpp" in slide.note


def test_units_are_never_guessed(tmp_path):
    stamp = Stamp(stamp_slide(tmp_path, "s1", features(), MICROMETRES, unit="px"), mpp=0.25)
    with pytest.raises(InputError, match="positions in 'px'"):
        stamp.read("s1")
    stamp_slide(tmp_path, "s1", features(), MICROMETRES, unit=None)
    assert stamp.read("s1").positions is None
    assert "which unit" in stamp.read("s1").note


def test_features_of_whole_slides_are_refused(tmp_path):
    with pytest.raises(InputError, match="features of a slide, not of tiles"):
        Stamp(stamp_slide(tmp_path, "s1", features(), MICROMETRES, feat_type="slide")).read("s1")


def test_the_tile_size_of_older_files_is_known_too(tmp_path):
    folder = stamp_slide(tmp_path, "s1", features(), MICROMETRES, tile_size_um=None, tile_size=128.0)
    assert Stamp(folder, mpp=0.25).read("s1").tile_size == 512


def test_slides_lie_in_folders_as_they_did_before(tmp_path):
    stamp_slide(tmp_path / "batch 1", "s1", features(), MICROMETRES)
    stamp_slide(tmp_path / "batch 2", "s2", features(seed=2), MICROMETRES)
    (tmp_path / "batch 2" / ".draft.h5").touch()
    assert Stamp.recognise(tmp_path) is not None
    assert Stamp(tmp_path).slides() == ["s1", "s2"]
    np.testing.assert_array_equal(Stamp(tmp_path).read("s2").features, features(seed=2))
    stamp_slide(tmp_path / "batch 2", "s1", features(), MICROMETRES)
    with pytest.raises(InputError, match=r"batch .*s1\.h5 and .*batch .*s1\.h5 are of slides of one name"):
        Stamp(tmp_path).slides()
