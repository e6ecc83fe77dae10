"""Attention-based deep multiple instance learning: bags in, labels and the instances that decided out."""

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from bagwise.bags import Bags
    from bagwise.datasets import load_dataset
    from bagwise.errors import InputError
    from bagwise.estimators import BagClassifier
    from bagwise.evaluation import evaluate
    from bagwise.runs import Run
    from bagwise.storage import load_bags, save_bags

PUBLIC = {
    "BagClassifier": "bagwise.estimators",
    "Bags": "bagwise.bags",
    "InputError": "bagwise.errors",
    "Run": "bagwise.runs",
    "evaluate": "bagwise.evaluation",
    "load_bags": "bagwise.storage",
    "load_dataset": "bagwise.datasets",
    "save_bags": "bagwise.storage",
}

__all__ = ["BagClassifier", "Bags", "InputError", "Run", "evaluate", "load_bags", "load_dataset", "save_bags"]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: torch costs seconds, and `bagwise --help` needs none of it."""
    if name not in PUBLIC:
        raise AttributeError(f"module 'bagwise' has no attribute '{name}'")
    import importlib

    return getattr(importlib.import_module(PUBLIC[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *PUBLIC])
