"""Multiple instance learning with attention: predict the label of a bag, and show which instances drove it."""

from typing import Any

import lazy_loader

_load, _, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used; ``import torch`` takes seconds, and ``--help`` does not need it."""
    if name == "__version__":
        from importlib.metadata import version

        return version("bagwise")
    return _load(name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
