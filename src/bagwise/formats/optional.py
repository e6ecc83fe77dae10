"""Packages that only some files need: asked for when such a file is read, with the command that installs them."""

import importlib
from pathlib import Path
from typing import Any

from bagwise.errors import InputError


def need(module: str, path: Path, extra: str) -> Any:
    """Import a package, or say how to get it.

    >>> need("json", Path("bags.json"), "features").__name__
    'json'
    """
    try:
        return importlib.import_module(module)
    except ImportError:
        package = module.partition(".")[0]
        raise InputError(
            f"{path} is read with {package}, which is not installed; pip install 'bagwise[{extra}]'"
        ) from None
