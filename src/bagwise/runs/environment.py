"""Where a run was made: versions and machine, so that a number can be traced to what produced it."""

import importlib.metadata
import os
import platform
from typing import Any

import torch

import bagwise

PACKAGES = ("numpy", "scipy", "scikit-learn", "torch", "safetensors", "matplotlib")


def describe_environment() -> dict[str, Any]:
    """Versions of what computes, the kind of machine, and the number of threads."""
    return {
        "bagwise": bagwise.__version__,
        "python": platform.python_version(),
        "packages": {name: importlib.metadata.version(name) for name in PACKAGES},
        "platform": platform.platform(),
        "processor": platform.machine(),
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "cuda": torch.version.cuda,
    }
