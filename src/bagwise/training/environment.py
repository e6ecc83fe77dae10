"""Description of the machine and of the software versions of a run, so that results can be traced to them."""

import importlib.metadata
import os
import platform
from typing import Any

import torch

import bagwise
from bagwise.training.devices import resolve_device

PACKAGES = ("numpy", "scipy", "scikit-learn", "torch", "safetensors", "matplotlib")


def describe_environment(device: str = "auto") -> dict[str, Any]:
    """Describe versions, machine, device and threads, and how exactly a run can be repeated.

    Parameters
    ----------
    device : str, default="auto"
        Device of the run.

    Returns
    -------
    dict
        JSON values.
    """
    resolved = resolve_device(device)
    return {
        "bagwise": bagwise.__version__,
        "python": platform.python_version(),
        "packages": {name: importlib.metadata.version(name) for name in PACKAGES},
        "platform": platform.platform(),
        "processor": platform.machine(),
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "cuda": torch.version.cuda,
        "device": resolved.type,
        "repeatable": describe_repeatability(resolved),
    }


def describe_repeatability(device: torch.device) -> str:
    """Describe the result of repeating or resuming a run with the same seed.

    >>> describe_repeatability(torch.device("cpu"))
    'the same bits on this machine with the same number of threads; elsewhere the same up to rounding'
    """
    if device.type == "cpu":
        return "the same bits on this machine with the same number of threads; elsewhere the same up to rounding"
    return f"the same up to rounding: {device.type} adds numbers in no fixed order, so the last bits may differ"
