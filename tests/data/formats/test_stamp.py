import numpy as np
import pytest

from bagwise.data.formats.stamp import Stamp
from bagwise.errors import InputError
from data.formats.foreign import features, grid, stamp_slide

MICROMETRES = grid(step=256).astype(float)


def test_stamp_converts_micrometres_to_level_0_pixels(tmp_path):
    slide = Stamp(stamp_slide(tmp_path, "s1", features(), MICROMETRES), mpp=0.25).read("s1")
    np.testing.assert_array_equal(slide.features, features())
    np.testing.assert_allclose(slide.positions, MICROMETRES * 4)
    assert slide.tile_size == 1024
    assert slide.extractor == "ctranspath"


def test_stamp_without_the_resolution_has_no_positions_and_a_note(tmp_path):
    slide = Stamp(stamp_slide(tmp_path, "s1", features(), MICROMETRES)).read("s1")
    assert slide.positions is None
    assert slide.tile_size is None
    assert "--mpp" in slide.note


def test_stamp_never_guesses_the_unit(tmp_path):
    stamp = Stamp(stamp_slide(tmp_path, "s1", features(), MICROMETRES, unit="px"), mpp=0.25)
    with pytest.raises(InputError, match=r"s1\.h5: the unit of positions must be micrometres \('um'\), got 'px'"):
        stamp.read("s1")
    stamp_slide(tmp_path, "s1", features(), MICROMETRES, unit=None)
    assert stamp.read("s1").positions is None
    assert "do not state the unit" in stamp.read("s1").note


def test_stamp_rejects_features_of_whole_slides(tmp_path):
    with pytest.raises(InputError, match=r"s1\.h5 contains features of a slide, not of tiles"):
        Stamp(stamp_slide(tmp_path, "s1", features(), MICROMETRES, feat_type="slide")).read("s1")


def test_stamp_reads_the_tile_size_of_older_files(tmp_path):
    folder = stamp_slide(tmp_path, "s1", features(), MICROMETRES, tile_size_um=None, tile_size=128.0)
    assert Stamp(folder, mpp=0.25).read("s1").tile_size == 512


def test_stamp_reads_slides_in_subfolders_and_rejects_equal_names(tmp_path):
    stamp_slide(tmp_path / "batch 1", "s1", features(), MICROMETRES)
    stamp_slide(tmp_path / "batch 2", "s2", features(seed=2), MICROMETRES)
    (tmp_path / "batch 2" / ".temporary.h5").touch()
    assert Stamp.recognise(tmp_path) is not None
    assert Stamp(tmp_path).slides() == ["s1", "s2"]
    np.testing.assert_array_equal(Stamp(tmp_path).read("s2").features, features(seed=2))
    stamp_slide(tmp_path / "batch 2", "s1", features(), MICROMETRES)
    with pytest.raises(InputError, match=r"batch .*s1\.h5 and .*batch .*s1\.h5 have the same slide name"):
        Stamp(tmp_path).slides()
