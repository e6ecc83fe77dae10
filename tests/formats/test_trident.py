import h5py
import numpy as np
import pytest

from bagwise.errors import InputError
from bagwise.formats.trident import Trident
from formats.foreign import features, grid, trident_slide


@pytest.mark.parametrize("attributes", [True, False])
def test_a_slide_comes_with_level_0_positions_tile_size_and_encoder(tmp_path, attributes):
    folder = trident_slide(tmp_path, "s1", features(), grid(), attributes=attributes)
    for given in (folder, folder.parent):
        trident = Trident(given)
        assert trident.slides() == ["s1"]
        slide = trident.read("s1")
        np.testing.assert_array_equal(slide.features, features())
        np.testing.assert_array_equal(slide.positions, grid())
        assert slide.tile_size == 512, "patch_size_level0, not patch_size"
        assert slide.extractor == "uni_v1"


def test_a_slide_without_tissue_is_empty_not_bad(tmp_path):
    folder = trident_slide(tmp_path, "s1", features(0), grid(0))
    assert len(Trident(folder).read("s1").features) == 0


def test_positions_outside_the_slide_are_refused(tmp_path):
    folder = trident_slide(tmp_path, "s1", features(), grid(), bounds=(1000, 8000))
    with pytest.raises(InputError, match="positions outside the slide of 1000 × 8000 level-0 pixels"):
        Trident(folder).read("s1")


def test_a_folder_with_two_encoders_is_ambiguous(tmp_path):
    trident_slide(tmp_path, "s1", features(), grid())
    folder = trident_slide(tmp_path, "s1", features(), grid(), encoder="virchow")
    with pytest.raises(InputError, match="several encoders \\(features_uni_v1, features_virchow\\)"):
        Trident(folder.parent).slides()


def test_a_bad_attribute_is_blamed_on_the_file_that_has_it(tmp_path):
    folder = trident_slide(tmp_path, "s1", features(), grid(), attributes=False)
    with h5py.File(folder.parent / "patches" / "s1_patches.h5", "a") as file:
        file["coords"].attrs["patch_size_level0"] = -512
    with pytest.raises(InputError, match=r"s1_patches\.h5: the attribute patch_size_level0 is -512"):
        Trident(folder).read("s1")
