"""`.pt` files: tensors, and nothing that would have to be executed to be read.

torch reads them with ``weights_only=True``, which builds tensors and refuses any other object by its name.
"""

import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from bagwise.errors import InputError

WRAPPERS = ("state_dict", "model_state_dict", "model")  # what training code keeps a state dictionary under


def read_tensor(path: str | Path, name: str | None = None) -> np.ndarray:
    """The tensor of a `.pt` file: it is alone there, or in a dictionary under ``name`` or as its only tensor.

    >>> import tempfile, torch
    >>> path = Path(tempfile.mkdtemp()) / "slide.pt"
    >>> torch.save(torch.eye(2), path)
    >>> read_tensor(path)
    array([[1., 0.],
           [0., 1.]], dtype=float32)
    """
    path = Path(path)
    if path.suffix != ".pt" or not path.is_file():
        raise InputError(f"{path} is not a .pt file; check the path")
    tensor = _chosen(path, _load(path), name)
    _check_claim(path, tensor)
    return _as_array(path, tensor)


def read_tensors(path: str | Path) -> dict[str, Any]:
    """The named tensors of a state dictionary, alone in a file or under one of the names it is usually kept by."""
    import torch

    path = Path(path)
    if not path.is_file():
        raise InputError(f"{path} is not a file; check the path")
    content = _load(path)
    while isinstance(content, dict) and (inner := next((name for name in WRAPPERS if name in content), None)):
        content = content[inner]
    tensors = content if isinstance(content, dict) else {}
    if not tensors or not all(isinstance(value, torch.Tensor) for value in tensors.values()):
        raise InputError(f"{path} holds no state dictionary; save one with torch.save(model.state_dict(), path)")
    for tensor in tensors.values():
        _check_claim(path, _chosen(path, tensor, None))
    return {str(name): tensor for name, tensor in tensors.items()}


def _check_claim(path: Path, tensor: Any) -> None:
    claimed, held = tensor.numel() * tensor.element_size(), path.stat().st_size
    if claimed > held:  # strides can repeat a few numbers for ever
        raise InputError(f"{path} claims {claimed:,} bytes of numbers, but holds {held:,} bytes; make the file again")


def _load(path: Path) -> Any:
    import torch

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return torch.load(path, map_location="cpu", weights_only=True, mmap=_is_archive(path))
    except Exception as error:  # a damaged file makes torch raise almost anything
        raise InputError(f"{path} {_reason(str(error))}") from None


def _is_archive(path: Path) -> bool:
    """Whether it is a zip, as torch writes them: of parts as they are, which it maps without unpacking."""
    if not zipfile.is_zipfile(path):
        return False
    with zipfile.ZipFile(path) as archive:
        if any(entry.compress_type != zipfile.ZIP_STORED for entry in archive.infolist()):
            raise ValueError("its parts are packed")
    return True


def _reason(message: str) -> str:
    """What is wrong, in one sentence: torch's own messages suggest to switch the protection off."""
    if "nsupported" in message or "GLOBAL" in message or "Weights only" in message:
        parts = message.split()
        named = next((parts[place + 1] for place, part in enumerate(parts[:-1]) if part == "GLOBAL"), "another object")
        return (
            f"holds more than tensors ({named.strip('.,')}), which could run code when it is read; nothing was run: "
            "save the tensor, or the state dictionary, alone with torch.save"
        )
    return "is damaged, cut short or no .pt file; copy or make it again"


def _chosen(path: Path, content: Any, name: str | None) -> Any:
    import torch

    if isinstance(content, dict):
        tensors = {str(key): value for key, value in content.items() if isinstance(value, torch.Tensor)}
        if name is None and len(tensors) != 1:
            listed = ", ".join(sorted(tensors)[:10]) or "none"
            raise InputError(f"{path} holds a dictionary with several tensors or none ({listed}); save one alone")
        content = next(iter(tensors.values())) if name is None else tensors.get(name)
    plain = isinstance(content, torch.Tensor) and content.layout == torch.strided and content.device.type == "cpu"
    if not plain or content.is_quantized or content.is_complex():
        raise InputError(f"{path} holds no plain tensor of numbers; save one with torch.save(tensor, path)")
    return content


def _as_array(path: Path, tensor: Any) -> np.ndarray:
    import torch

    try:
        known = tensor.float() if tensor.dtype == torch.bfloat16 else tensor  # NumPy has no bfloat16
        return np.array(known.detach().numpy(), copy=True)
    except (RuntimeError, TypeError, ValueError) as error:
        raise InputError(f"{path} holds a tensor that is not of plain numbers ({error}); save it as float32") from None
