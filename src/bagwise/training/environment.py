"""Description of the machine and the software versions that a run used."""

import importlib.metadata
import os
import platform
from typing import Any

import torch

import bagwise
from bagwise.training.devices import resolve_device

PACKAGES = ("numpy", "scipy", "scikit-learn", "torch", "safetensors", "matplotlib")


def describe_environment(device: str = "auto") -> dict[str, Any]:
    """Describe software versions, machine, device and number of threads, and how exactly a run can be repeated.

    Parameters
    ----------
    device : str, default="auto"
        Name of the device of the run (see ``resolve_device``).

    Returns
    -------
    dict
        Description that can be written as JSON.
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
    """Describe how exactly a run is reproduced if it is repeated or resumed with the same seed.

    >>> describe_repeatability(torch.device("cpu"))
    'bitwise identical on this machine with the same number of threads; elsewhere identical up to rounding'
    """
    if device.type == "cpu":
        return "bitwise identical on this machine with the same number of threads; elsewhere identical up to rounding"
    return f"identical up to rounding: {device.type} does not sum in a fixed order, so the last bits may differ"
