import json

import numpy as np
import pytest

from bagwise.data.formats.slideflow import Slideflow
from bagwise.errors import InputError
from data.formats.foreign import features, grid, slideflow_slide


def test_slideflow_converts_centres_to_upper_left_corners(tmp_path):
    folder = slideflow_slide(tmp_path, "s1", features(), grid() + 256)
    slideflow = Slideflow(folder, mpp=0.25)
    assert slideflow.slides() == ["s1"]
    slide = slideflow.read("s1")
    np.testing.assert_array_equal(slide.features, features())
    np.testing.assert_array_equal(slide.positions, grid())
    assert slide.tile_size == 512
    assert slide.extractor == "RetCCLFeatures"


@pytest.mark.parametrize(("size", "tile_um", "mpp"), [(512, 128, 0.25), (1211, 302, 0.2493), (507, 128, 0.2521)])
def test_slideflow_recovers_corners_to_the_pixel(tmp_path, size, tile_um, mpp):
    """slideflow cuts tiles of int(tile_um / mpp) pixels and stores int(corner + size / 2), truncating half pixels."""
    assert int(tile_um / mpp) == size
    corners = grid(step=size)
    centres = np.array([[int(x + size / 2), int(y + size / 2)] for x, y in corners])
    slide = Slideflow(slideflow_slide(tmp_path, "s1", features(), centres, tile_um=tile_um), mpp=mpp).read("s1")
    np.testing.assert_array_equal(slide.positions, corners)
    assert slide.tile_size == size


@pytest.mark.parametrize(("mpp", "tile_um", "note"), [(None, 128, "--mpp"), (0.25, "20x", "tile_um")])
def test_slideflow_without_the_tile_size_has_no_positions_and_a_note(tmp_path, mpp, tile_um, note):
    slide = Slideflow(slideflow_slide(tmp_path, "s1", features(), grid(), tile_um=tile_um), mpp=mpp).read("s1")
    assert slide.positions is None
    assert note in slide.note


def test_slideflow_without_an_index_has_no_positions_and_a_note(tmp_path):
    folder = slideflow_slide(tmp_path, "s1", features(), grid())
    (folder / "s1.index.npz").unlink()
    slide = Slideflow(folder, mpp=0.25).read("s1")
    assert slide.positions is None
    assert "<slide>.index.npz, which stores them, does not exist" in slide.note


def test_slideflow_accepts_a_rounded_resolution_and_rejects_an_impossible_one(tmp_path):
    folder = slideflow_slide(tmp_path, "s1", features(), grid() + 256)
    assert Slideflow(folder, mpp=0.245).read("s1").positions.min() == 0
    for mpp, size in ((0.0025, 51200), (500.0, 0)):
        with pytest.raises(InputError, match=rf"\(bags_config.json\) at --mpp {mpp:g} is {size} level-0 pixels wide"):
            Slideflow(folder, mpp=mpp).read("s1")


@pytest.mark.parametrize(
    ("config", "name"),
    [
        ({"class": "a.TorchImagenetLayerExtractor", "kwargs": {"model_name": "resnet50", "tile_px": 224}},
         "TorchImagenetLayerExtractor resnet50"),
        ({"class": "a.TorchImagenetLayerExtractor", "kwargs": {"model_name": "vgg16", "layers": ["a", "b"]}},
         "TorchImagenetLayerExtractor vgg16 a,b"),
        ({"class": "a.SimCLR_Features", "kwargs": {"ckpt": "/data/models/mine.ckpt"}}, "SimCLR_Features mine.ckpt"),
        ({"class": "a.RetCCLFeatures", "kwargs": None}, "RetCCLFeatures"),
        ("uni", "uni"),
        ({"kwargs": {}}, None),
        (7, None),
    ],
)  # fmt: skip
def test_slideflow_names_the_extractor_by_class_and_model(tmp_path, config, name):
    folder = slideflow_slide(tmp_path, "s1", features(), grid())
    (folder / "bags_config.json").write_text(json.dumps({"extractor": config}))
    assert Slideflow(folder).read("s1").extractor == name


def test_slideflow_rejects_positions_of_another_slide(tmp_path):
    folder = slideflow_slide(tmp_path, "s1", features(), grid(7))
    with pytest.raises(InputError, match=r"s1\.index\.npz has 5 rows of features, but positions of shape"):
        Slideflow(folder, mpp=0.25).read("s1")


def test_slideflow_rejects_a_configuration_that_is_not_an_object(tmp_path):
    folder = slideflow_slide(tmp_path, "s1", features(), grid())
    (folder / "bags_config.json").write_text("[1]")
    with pytest.raises(InputError, match=r"bags_config\.json must be a JSON object"):
        Slideflow(folder).read("s1")
