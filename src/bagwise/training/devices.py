"""Device, number of threads and precision of the computation.

Mixed precision computes the encoder in bfloat16 during training, and everything else in float32. bfloat16 has the range
of float32, so gradients need no scaling. Weights, pooling, head, loss, optimizer state and predictions remain in full
precision: in bfloat16, softmax and sums over many instances would lose accuracy, unlike the matrix products of the
encoder.
"""

import contextlib
from collections.abc import Iterator

import torch
from jaxtyping import Float, Shaped
from threadpoolctl import threadpool_limits
from torch import Tensor, nn

from bagwise.arguments import describe_value
from bagwise.errors import InputError
from bagwise.nn import BagModel

PRECISIONS = ("full", "mixed")


def list_devices() -> dict[str, bool]:
    """Return which types of device are available on this machine with the installed version of torch.

    Returns
    -------
    dict of str to bool
        Availability of "cpu", "cuda" and "mps".
    """
    return {"cpu": True, "cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}


def resolve_device(name: str | torch.device) -> torch.device:
    """Return the torch device with a given name.

    Parameters
    ----------
    name : str or torch.device
        Device, or its name in torch; "auto" selects CUDA if available, else the CPU.

    Returns
    -------
    torch.device
        The device.

    Raises
    ------
    InputError
        If the device is unknown or not available.

    Examples
    --------
    >>> resolve_device("cpu")
    device(type='cpu')
    """
    available = [kind for kind, is_available in list_devices().items() if is_available]
    choices = f"choose one of: auto, {', '.join(available)}"
    if not isinstance(name, str | torch.device):
        raise InputError(f"device must be a name or a torch.device, got {describe_value(name)}; {choices}")
    if name == "auto":
        return torch.device("cuda" if "cuda" in available else "cpu")
    try:
        device = torch.device(name)
    except RuntimeError:
        raise InputError(f"device '{name}' is unknown; {choices}") from None
    if device.type not in available:
        raise InputError(f"device '{name}' is not available on this machine; {choices}")
    return device


@contextlib.contextmanager
def use_one_thread() -> Iterator[None]:
    """Limit torch and the numerical libraries of NumPy to one thread within a ``with`` block.

    The last bits of a sum depend on the number of threads; with one thread they are reproducible.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with threadpool_limits(1):
            yield
    finally:
        torch.set_num_threads(before)


def check_precision(precision: str, device: torch.device) -> None:
    """Raise ``InputError`` for mixed precision on a device without native support of bfloat16.

    CPUs are rejected: a virtual machine may report bfloat16 instructions that it does not provide, and a matrix product
    would then terminate the process.
    """
    if precision == "full":
        return
    if device.type != "cuda" or not torch.cuda.is_bf16_supported(including_emulation=False):
        raise InputError(
            f"precision='mixed' needs a CUDA device that supports bfloat16, but this run uses device '{device}'; "
            "use precision='full'"
        )


def use_half_precision(model: nn.Module, device: torch.device) -> BagModel:
    """Return a model that shares all weights with ``model`` and computes the encoder in bfloat16, for training."""
    assert isinstance(model, BagModel)
    return model.replace_encoder(HalfPrecisionEncoder(model.encoder, device.type))


class HalfPrecisionEncoder(nn.Module):
    """Encoder that computes products in bfloat16, from shared float32 weights, and returns float32 embeddings."""

    def __init__(self, encoder: nn.Module, device_type: str) -> None:
        super().__init__()
        self.full_precision = encoder
        self.device_type = device_type

    def forward(self, instances: Shaped[Tensor, "instances ..."]) -> Float[Tensor, "instances width"]:
        with torch.autocast(self.device_type, dtype=torch.bfloat16):
            embeddings = self.full_precision(instances)
        return embeddings.to(torch.get_default_dtype())
