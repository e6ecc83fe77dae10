"""``.pt`` files: tensors, and nothing that would have to be executed to be read.

torch loads them with ``weights_only=True``, which creates tensors and rejects any other object by its name.
"""

import warnings
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bagwise.errors import InputError

if TYPE_CHECKING:
    import torch

STATE_KEYS = ("state_dict", "model_state_dict", "model")  # under which training code stores a state dictionary


def read_tensor(path: str | Path, name: str | None = None) -> np.ndarray:
    """Read the tensor of a ``.pt`` file.

    Parameters
    ----------
    path : str or Path
        A file with a tensor, or with a dictionary of tensors.
    name : str or None, default=None
        The key of the tensor in a dictionary; None requires that it has a single tensor.

    Returns
    -------
    ndarray

    Examples
    --------
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
    tensor = _select_tensor(path, _load(path), name)
    _check_claimed_bytes(path, tensor)
    return _to_array(path, tensor)


def read_tensors(path: str | Path) -> "dict[str, torch.Tensor]":
    """Read a state dictionary, stored by itself or under a common key (state_dict, model_state_dict, model).

    Parameters
    ----------
    path : str or Path
        A file that torch wrote, with any suffix.

    Returns
    -------
    dict of str to torch.Tensor

    Raises
    ------
    InputError
        If the file is damaged, or contains anything but plain tensors.
    """
    import torch

    path = Path(path)
    if not path.is_file():
        raise InputError(f"{path} is not a file; check the path")
    content = _load(path)
    while isinstance(content, dict) and (key := next((name for name in STATE_KEYS if name in content), None)):
        content = content[key]
    tensors = content if isinstance(content, dict) else {}
    if not tensors or not all(isinstance(value, torch.Tensor) for value in tensors.values()):
        raise InputError(f"{path} has no state dictionary; save one with torch.save(model.state_dict(), path)")
    for tensor in tensors.values():
        _check_claimed_bytes(path, _select_tensor(path, tensor, None))
    return {str(name): tensor for name, tensor in tensors.items()}


def _load(path: Path) -> Any:
    import torch

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return torch.load(path, map_location="cpu", weights_only=True, mmap=_is_archive(path))
    except Exception as error:  # a damaged file makes torch raise almost anything
        raise InputError(f"{path} {_explain(str(error))}") from None


def _is_archive(path: Path) -> bool:
    """Whether the file is a zip archive as torch writes it, uncompressed, which can be memory-mapped."""
    if not zipfile.is_zipfile(path):
        return False
    with zipfile.ZipFile(path) as archive:
        if any(entry.compress_type != zipfile.ZIP_STORED for entry in archive.infolist()):
            raise ValueError("its parts are compressed")
    return True


def _explain(message: str) -> str:
    """Replace an error message of torch, which would suggest disabling the protection."""
    if "nsupported" in message or "GLOBAL" in message or "Weights only" in message:
        words = message.split()
        name = next((words[index + 1] for index, word in enumerate(words[:-1]) if word == "GLOBAL"), "another object")
        return (
            f"contains more than tensors ({name.strip('.,')}), which could execute code when loaded; nothing was "
            "executed: save only the tensor, or the state dictionary, with torch.save"
        )
    return "is damaged, truncated or not a .pt file; copy or create it again"


def _select_tensor(path: Path, content: Any, name: str | None) -> Any:
    import torch

    if isinstance(content, dict):
        tensors = {str(key): value for key, value in content.items() if isinstance(value, torch.Tensor)}
        if name is None and len(tensors) != 1:
            names = ", ".join(sorted(tensors)[:10]) or "none"
            raise InputError(
                f"{path} has a dictionary with several tensors or none ({names}); save a single one with "
                "torch.save(tensor, path)"
            )
        content = next(iter(tensors.values())) if name is None else tensors.get(name)
    is_plain = isinstance(content, torch.Tensor) and content.layout == torch.strided and content.device.type == "cpu"
    if not is_plain or content.is_quantized or content.is_complex():
        raise InputError(f"{path} has no plain tensor of numbers; save one with torch.save(tensor, path)")
    return content


def _check_claimed_bytes(path: Path, tensor: Any) -> None:
    claimed, stored = tensor.numel() * tensor.element_size(), path.stat().st_size
    if claimed > stored:  # strides can repeat a few numbers indefinitely
        raise InputError(
            f"{path} claims {claimed:,} bytes of numbers, but holds {stored:,} bytes; create the file again"
        )


def _to_array(path: Path, tensor: Any) -> np.ndarray:
    import torch

    try:
        supported = tensor.float() if tensor.dtype == torch.bfloat16 else tensor  # NumPy has no bfloat16
        return np.array(supported.detach().numpy(), copy=True)
    except (RuntimeError, TypeError, ValueError) as error:
        raise InputError(f"{path} has a tensor of an unsupported type ({error}); save it as float32") from None
