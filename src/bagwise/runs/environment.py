"""Where a run was made: versions and machine, so that a number can be traced to what produced it."""

import importlib.metadata
import os
import platform
from typing import Any

import torch

import bagwise
from bagwise.training.devices import resolve

PACKAGES = ("numpy", "scipy", "scikit-learn", "torch", "safetensors", "matplotlib")


def describe_environment(device: str = "auto") -> dict[str, Any]:
    """Versions of what computes, the kind of machine, device and number of threads, and what they promise."""
    found = resolve(device)
    return {
        "bagwise": bagwise.__version__,
        "python": platform.python_version(),
        "packages": {name: importlib.metadata.version(name) for name in PACKAGES},
        "platform": platform.platform(),
        "processor": platform.machine(),
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "cuda": torch.version.cuda,
        "device": found.type,
        "repeatable": promise(found),
    }


def promise(device: torch.device) -> str:
    """What a repetition with the same seed, or a resume, may be expected to give.

    >>> promise(torch.device("cpu"))
    'the same bits on this machine with as many threads; elsewhere the same up to rounding'
    """
    if device.type == "cpu":
        return "the same bits on this machine with as many threads; elsewhere the same up to rounding"
    return f"the same up to rounding: {device.type} adds numbers in no fixed order, so the last bits may differ"
