import h5py
import numpy as np
import pytest

from bagwise.data.formats.trident import Trident
from bagwise.errors import InputError
from data.formats.foreign import features, grid, trident_slide


@pytest.mark.parametrize("attributes", [True, False])
def test_trident_reads_features_level_0_positions_tile_size_and_encoder(tmp_path, attributes):
    folder = trident_slide(tmp_path, "s1", features(), grid(), attributes=attributes)
    for given in (folder, folder.parent):
        trident = Trident(given)
        assert trident.slides() == ["s1"]
        slide = trident.read("s1")
        np.testing.assert_array_equal(slide.features, features())
        np.testing.assert_array_equal(slide.positions, grid())
        assert slide.tile_size == 512, "patch_size_level0, not patch_size"
        assert slide.extractor == "uni_v1"


def test_trident_returns_a_slide_without_tissue_with_no_rows(tmp_path):
    folder = trident_slide(tmp_path, "s1", features(0), grid(0))
    assert len(Trident(folder).read("s1").features) == 0


def test_trident_rejects_positions_outside_the_slide(tmp_path):
    folder = trident_slide(tmp_path, "s1", features(), grid(), bounds=(1000, 8000))
    with pytest.raises(InputError, match=r"s1\.h5 has .* positions outside the slide of 1000 × 8000 level-0 pixels"):
        Trident(folder).read("s1")


def test_trident_rejects_a_folder_with_two_encoders_and_lists_them(tmp_path):
    trident_slide(tmp_path, "s1", features(), grid())
    folder = trident_slide(tmp_path, "s1", features(), grid(), encoder="virchow")
    message = (
        r"several encoders \(features_uni_v1, features_virchow\); pass one of these folders, e\.g\. .*features_uni_v1"
    )
    with pytest.raises(InputError, match=message):
        Trident(folder.parent).slides()


def test_trident_names_the_patch_file_with_a_bad_attribute(tmp_path):
    folder = trident_slide(tmp_path, "s1", features(), grid(), attributes=False)
    with h5py.File(folder.parent / "patches" / "s1_patches.h5", "a") as file:
        file["coords"].attrs["patch_size_level0"] = -512
    message = r"s1_patches\.h5: the attribute patch_size_level0 must be a positive number, got -512"
    with pytest.raises(InputError, match=message):
        Trident(folder).read("s1")
