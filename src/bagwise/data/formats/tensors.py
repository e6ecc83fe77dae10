"""``.pt`` files of tensors, which are read without executing code.

They are loaded by ``torch.load`` with ``weights_only=True``, which rejects objects other than tensors by their names.
"""

import warnings
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bagwise.errors import InputError
from bagwise.io import check_file_exists

if TYPE_CHECKING:
    import torch

STATE_KEYS = ("state_dict", "model_state_dict", "model")  # common keys of the state dictionary in a checkpoint


def read_tensor(path: str | Path, name: str | None = None) -> np.ndarray:
    """Read the tensor of a ``.pt`` file.

    Parameters
    ----------
    path : str or Path
        A file with a tensor, or with a dictionary of tensors.
    name : str or None, default=None
        The key of the tensor in a dictionary; None requires a dictionary with a single tensor.

    Returns
    -------
    ndarray

    Raises
    ------
    InputError
        If the file is damaged, contains objects other than tensors, or has no such tensor.

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
    _check_declared_bytes(path, tensor)
    return _to_array(path, tensor)


def read_tensors(path: str | Path) -> "dict[str, torch.Tensor]":
    """Read a state dictionary, which may be stored under a common key (state_dict, model_state_dict, model).

    Parameters
    ----------
    path : str or Path
        A file written by ``torch.save``, with any suffix.

    Returns
    -------
    dict of str to torch.Tensor
        The tensors by name.

    Raises
    ------
    InputError
        If the file is damaged, or contains anything but plain tensors.
    """
    import torch

    path = Path(path)
    check_file_exists(path)
    content = _load(path)
    while isinstance(content, dict) and (key := next((name for name in STATE_KEYS if name in content), None)):
        content = content[key]
    tensors = content if isinstance(content, dict) else {}
    if not tensors or not all(isinstance(value, torch.Tensor) for value in tensors.values()):
        raise InputError(f"{path} has no state dictionary; save one with torch.save(model.state_dict(), path)")
    for tensor in tensors.values():
        _check_declared_bytes(path, _select_tensor(path, tensor, None))
    return {str(name): tensor for name, tensor in tensors.items()}


def _load(path: Path) -> Any:
    import torch

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return torch.load(path, map_location="cpu", weights_only=True, mmap=_is_archive(path))
    except Exception as error:  # torch raises many kinds of errors on damaged files
        raise InputError(f"{path} {_explain(str(error))}") from None


def _is_archive(path: Path) -> bool:
    """Return whether the file is an uncompressed zip archive, as torch writes it, which can be memory-mapped."""
    if not zipfile.is_zipfile(path):
        return False
    with zipfile.ZipFile(path) as archive:
        if any(entry.compress_type != zipfile.ZIP_STORED for entry in archive.infolist()):
            raise ValueError("its parts are compressed")
    return True


def _explain(message: str) -> str:
    """Return a message to replace that of torch, which suggests disabling ``weights_only``."""
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


def _check_declared_bytes(path: Path, tensor: Any) -> None:
    declared, stored = tensor.numel() * tensor.element_size(), path.stat().st_size
    if declared > stored:  # with stride 0, a few stored numbers become any number of elements
        raise InputError(
            f"{path} declares {declared:,} bytes of numbers, but has {stored:,} bytes; create the file again"
        )


def _to_array(path: Path, tensor: Any) -> np.ndarray:
    import torch

    try:
        supported = tensor.float() if tensor.dtype == torch.bfloat16 else tensor  # NumPy has no bfloat16
        return np.array(supported.detach().numpy(), copy=True)
    except (RuntimeError, TypeError, ValueError) as error:
        raise InputError(f"{path} has a tensor of an unsupported type ({error}); save it as float32") from None
