import numpy as np
import pytest

from bagwise.errors import InputError
from bagwise.formats.slideflow import Slideflow
from formats.foreign import features, grid, slideflow_slide


def test_centres_become_upper_left_corners(tmp_path):
    folder = slideflow_slide(tmp_path, "s1", features(), grid() + 256)
    slideflow = Slideflow(folder, mpp=0.25)
    assert slideflow.slides() == ["s1"]
    slide = slideflow.read("s1")
    np.testing.assert_array_equal(slide.features, features())
    np.testing.assert_array_equal(slide.positions, grid())
    assert slide.tile_size == 512
    assert slide.extractor == "RetCCLFeatures"


@pytest.mark.parametrize(("mpp", "tile_um"), [(None, 128), (0.25, "20x")])
def test_without_the_tile_size_there_are_no_positions_and_it_is_said(tmp_path, mpp, tile_um):
    slide = Slideflow(slideflow_slide(tmp_path, "s1", features(), grid(), tile_um=tile_um), mpp=mpp).read("s1")
    assert slide.positions is None
    assert "--mpp" in slide.note


def test_positions_of_another_slide_are_refused(tmp_path):
    folder = slideflow_slide(tmp_path, "s1", features(), grid(7))
    with pytest.raises(InputError, match="5 rows of features and positions of shape"):
        Slideflow(folder, mpp=0.25).read("s1")


def test_a_configuration_that_is_no_object_is_refused(tmp_path):
    folder = slideflow_slide(tmp_path, "s1", features(), grid())
    (folder / "bags_config.json").write_text("[1]")
    with pytest.raises(InputError, match="must hold a JSON object"):
        Slideflow(folder).read("s1")
