"""An estimator on disk: a folder of safetensors (numbers) and JSON (words), sealed by SHA-256; never a pickle."""

from pathlib import Path
from typing import Any

import numpy as np
import safetensors
from safetensors.torch import load_file
from safetensors.torch import save as as_bytes
from torch import nn

import bagwise
from bagwise import likelihoods
from bagwise.bags import Bags
from bagwise.errors import InputError
from bagwise.files import atomic_folder, damages, read_json, read_manifest, write_json, write_manifest

KIND = "bagwise model"
OWN = ("encoder", "pooling", "augmentation")  # parameters that may be modules of the user's own


def plain(value: Any) -> Any:
    """A parameter as JSON: a module by its class, a table of class weights as pairs."""
    if isinstance(value, nn.Module):
        return {"module": type(value).__qualname__, "repr": repr(value)}
    if isinstance(value, dict):
        return {"pairs": [[plain(key), plain(item)] for key, item in value.items()]}
    if isinstance(value, np.generic):
        return value.item()
    if value is None or isinstance(value, str | int | float | bool):
        return value
    return None  # a random generator: its state is not part of the model


def unplain(value: Any) -> Any:
    """The inverse of ``plain``, for what it can restore."""
    if isinstance(value, dict) and "pairs" in value:
        return {unplain(key): unplain(item) for key, item in value["pairs"]}
    return value


def save(estimator: Any, folder: Path) -> None:
    """Write a fitted network estimator."""
    description = {
        "estimator": type(estimator).__name__,
        "bagwise": bagwise.__version__,
        "parameters": {name: plain(value) for name, value in estimator.get_params(deep=False).items()},
        "classes": {"dtype": estimator.classes_.dtype.str, "values": [plain(label) for label in estimator.classes_]},
        "instance_shape": list(estimator.instance_shape_),
        "extractor": estimator.extractor_,
        "seed": estimator.seed_,
    }
    tensors = {name: value.detach().cpu().contiguous() for name, value in estimator.model_.state_dict().items()}
    with atomic_folder(folder, KIND) as draft:
        (draft / "model.safetensors").write_bytes(as_bytes(tensors))
        write_json(draft / "model.json", description)
        write_manifest(draft, KIND)


def load(kind: type, folder: Path, modules: dict[str, nn.Module]) -> Any:
    """Read a network estimator, every file compared with its SHA-256 first."""
    read_manifest(folder, KIND)
    if found := damages(folder):
        raise InputError(f"{folder} is damaged: {'; '.join(found)}; restore it from a copy or train again")
    description = read_json(folder / "model.json")
    if description["estimator"] != kind.__name__:
        raise InputError(f"{folder} holds a {description['estimator']}, not a {kind.__name__}")
    parameters = {name: unplain(value) for name, value in description["parameters"].items()}
    if unknown := modules.keys() - set(OWN):
        raise InputError(f"load takes modules named {', '.join(OWN)}, not {', '.join(sorted(unknown))}")
    for name in OWN:
        parameters[name] = _module(parameters[name], modules.get(name), name, folder)
    estimator = kind(**parameters)
    estimator.classes_ = np.array(description["classes"]["values"], dtype=description["classes"]["dtype"])
    estimator.instance_shape_ = tuple(description["instance_shape"])
    estimator.n_features_in_ = int(np.prod(estimator.instance_shape_))
    estimator.extractor_ = description["extractor"]
    estimator.seed_ = description["seed"]
    estimator.history_ = []
    estimator.likelihood_ = likelihoods.for_classes(len(estimator.classes_))
    estimator.model_ = estimator._build(_blank(estimator.instance_shape_))
    _fill(estimator.model_, folder / "model.safetensors")
    estimator.model_.eval()
    return estimator


def _blank(shape: tuple[int, ...]) -> Bags:
    """One bag of zeros, enough to lay out the network that the saved numbers then fill."""
    return Bags(np.zeros((1, *shape), dtype=np.float32), np.array([0, 1]))


def _module(stored: Any, given: nn.Module | None, name: str, folder: Path) -> Any:
    own = isinstance(stored, dict) and "module" in stored
    if own and given is None:
        raise InputError(
            f"{folder} was trained with a {name} of your own, {stored['module']}; pass it again: load(…, {name}=…)"
        )
    if not own and given is not None:
        raise InputError(f"{folder} was trained with the {name} '{stored}'; load it without {name}=…")
    if own and plain(given) != stored:
        raise InputError(f"{folder} was trained with this {name}:\n{stored['repr']}\nand you passed:\n{given!r}")
    return given if own else stored


def _fill(model: nn.Module, path: Path) -> None:
    """Copy the saved numbers into a model whose names and shapes must be the same."""
    try:
        tensors = load_file(path)
    except safetensors.SafetensorError as error:
        raise InputError(f"{path} is damaged ({error}); restore it from a copy") from None
    expected = {name: tuple(value.shape) for name, value in model.state_dict().items()}
    stored = {name: tuple(value.shape) for name, value in tensors.items()}
    if expected != stored:
        names = [name for name in sorted({*expected, *stored}) if expected.get(name) != stored.get(name)]
        shown = "; ".join(f"{name}: saved {stored.get(name)}, now {expected.get(name)}" for name in names[:3])
        raise InputError(f"{path} does not fit the model: {shown}")
    model.load_state_dict(tensors)
