"""The device a model runs on."""

import torch

from bagwise.errors import InputError
from bagwise.quantities import shown


def available() -> dict[str, bool]:
    """Which kinds of device this machine and this torch have."""
    return {"cpu": True, "cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}


def resolve(name: str | torch.device) -> torch.device:
    """A device from its name; "auto" takes an NVIDIA GPU where there is one, else the CPU.

    >>> resolve("cpu")
    device(type='cpu')
    """
    usable = [kind for kind, there in available().items() if there]
    if not isinstance(name, str | torch.device):
        raise InputError(f"device is {shown(name)}; give one of: auto, {', '.join(usable)}")
    if name == "auto":
        return torch.device("cuda" if "cuda" in usable else "cpu")
    try:
        device = torch.device(name)
    except RuntimeError:
        raise InputError(f"device '{name}' is unknown; choose one of: auto, {', '.join(usable)}") from None
    if device.type not in usable:
        raise InputError(f"device '{name}' is not available here; choose one of: auto, {', '.join(usable)}")
    return device
