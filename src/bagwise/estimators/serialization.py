"""Saved estimators: folders of safetensors (tensors) and JSON (metadata) with SHA-256 checksums; no pickle."""

import importlib
from pathlib import Path
from typing import Any

import numpy as np
import safetensors
from safetensors.torch import load_file
from safetensors.torch import save as serialize_tensors
from sklearn.base import BaseEstimator
from torch import Tensor, nn

import bagwise
from bagwise.arguments import describe_value
from bagwise.errors import InputError, translate_errors
from bagwise.io import (
    limit_memory,
    read_json,
    read_verified_manifest,
    write_folder_atomically,
    write_json,
    write_manifest,
)
from bagwise.targets import Target, restore_target, save_target

KIND = "bagwise model"  # kind of the folder, as written to its manifest
DESCRIPTION, TENSORS = "model.json", "model.safetensors"
BASE_MEMORY, MEMORY_FACTOR = 1 << 30, 8  # memory limit of loading: bytes + factor · size of the tensors
MODULE_PARAMETERS = ("encoder", "context", "pooling", "augmentation")  # parameters that may be custom modules


def save_estimator(estimator: Any, folder: str | Path) -> None:
    """Write a fitted estimator to a folder."""
    metadata, tensors = estimator._content()
    description = {
        "estimator": type(estimator).__name__,
        "bagwise": bagwise.__version__,
        "parameters": _parameters_to_plain(estimator),
        "target": save_target(estimator.target_),
        "instance_shape": list(estimator.instance_shape_),
        "feature_names": getattr(estimator, "feature_names_in_", np.array([])).tolist(),
        "extractor": estimator.extractor_,
        "seen": estimator.seen_.astype("<u8").tobytes().hex(),
        "seed": estimator.seed_,
        "learned": metadata,
    }
    # cloned, because safetensors rejects tensors that share memory (tied weights)
    copies = {name: value.detach().cpu().clone().contiguous() for name, value in tensors.items()}
    with write_folder_atomically(Path(folder), KIND) as temporary:
        (temporary / TENSORS).write_bytes(serialize_tensors(copies))
        write_json(temporary / DESCRIPTION, description)
        write_manifest(temporary, KIND)


def load_estimator(expected_class: Any, folder: str | Path, modules: dict[str, Any]) -> Any:
    """Load an estimator of a class or a subclass; every file is first compared with its SHA-256 checksum."""
    folder = Path(folder)
    read_verified_manifest(folder, KIND, (DESCRIPTION, TENSORS))
    limit = BASE_MEMORY + MEMORY_FACTOR * (folder / TENSORS).stat().st_size
    with translate_errors(folder, "does not contain a valid bagwise model", "train again"), limit_memory(limit):
        return _read_estimator(expected_class, folder, modules)


def _read_estimator(expected_class: Any, folder: Path, modules: dict[str, Any]) -> Any:
    """Read an estimator whose checksums match; the files may be forged, so their content is not trusted."""
    description = read_json(folder / DESCRIPTION)
    found_class = _find_class(description["estimator"], expected_class.kinds)
    if not issubclass(found_class, expected_class):
        raise InputError(
            f"{folder} contains a {description['estimator']}, not a {expected_class.__name__}; "
            f"load it with {description['estimator']}.load or BagEstimator.load"
        )
    parameters = {name: from_plain(value, expected_class.kinds) for name, value in description["parameters"].items()}
    estimator = found_class(**_insert_modules(parameters, modules, folder))
    restore_attributes(
        estimator,
        restore_target(description["target"]),
        tuple(description["instance_shape"]),
        description["seed"],
    )
    if description["feature_names"]:
        estimator.feature_names_in_ = np.array(description["feature_names"], dtype=object)
    estimator.extractor_ = description["extractor"]
    estimator.seen_ = np.frombuffer(bytes.fromhex(description["seen"]), dtype="<u8")
    estimator._restore(description["learned"], _read_tensors(folder / TENSORS))
    return estimator


def restore_attributes(estimator: Any, target: Target, instance_shape: tuple[int, ...], seed: int) -> None:
    """Set the attributes that every ``fit`` sets, for an estimator that is restored instead of fitted.

    Parameters
    ----------
    estimator : BagEstimator
        The estimator; it is changed in place.
    target : Target
        The target.
    instance_shape : tuple of int
        Shape of an instance.
    seed : int
        Seed of the fit.
    """
    estimator.target_, estimator.instance_shape_, estimator.seed_ = target, instance_shape, seed
    estimator.likelihood_ = estimator._make_likelihood(target)
    estimator.n_features_in_ = int(np.prod(instance_shape))
    estimator.extractor_ = None
    estimator.seen_ = np.array([], dtype=np.uint64)


def load_parameters(model: nn.Module, tensors: dict[str, Tensor]) -> None:
    """Copy saved tensors into a model; names and shapes must match."""
    expected = {name: tuple(value.shape) for name, value in model.state_dict().items()}
    stored = {name: tuple(value.shape) for name, value in tensors.items()}
    if expected != stored:
        names = [name for name in sorted({*expected, *stored}) if expected.get(name) != stored.get(name)]
        details = "; ".join(f"{name}: saved {stored.get(name)}, model {expected.get(name)}" for name in names[:3])
        raise InputError(f"the saved tensors do not fit the model: {details}")
    model.load_state_dict(tensors)


def to_plain(value: Any) -> Any:
    """Convert a parameter of an estimator to JSON types.

    Parameters
    ----------
    value : object
        A number, string, bool, None, list, tuple, dict, array, random state, module or scikit-learn estimator; may be
        nested.

    Returns
    -------
    object
        JSON types. A module is described by its class and repr, an estimator by its class and parameters, a dict by
        its key-value pairs; a random state becomes None.

    Raises
    ------
    InputError
        If the value has another type.

    Examples
    --------
    >>> to_plain({1: ("a", np.float64(2.0))})
    {'pairs': [[1, {'tuple': ['a', 2.0]}]]}
    """
    if isinstance(value, nn.Module):
        return {"module": type(value).__qualname__, "repr": repr(value)}
    if isinstance(value, BaseEstimator):
        return {"estimator": _name_class(type(value)), "parameters": _parameters_to_plain(value)}
    if isinstance(value, dict):
        return {"pairs": [[to_plain(key), to_plain(item)] for key, item in value.items()]}
    if isinstance(value, list | tuple):
        items = [to_plain(item) for item in value]
        return items if isinstance(value, list) else {"tuple": items}
    if isinstance(value, np.ndarray):
        return [to_plain(item) for item in value.tolist()]
    if isinstance(value, np.generic):
        return value.item()
    if value is None or isinstance(value, str | int | float | bool):
        return value
    if isinstance(value, np.random.RandomState | np.random.Generator):
        return None  # the state of a generator is not part of the model
    raise InputError(
        f"the parameter {describe_value(value)} cannot be saved; use numbers, strings, lists or estimators instead"
    )


def from_plain(value: Any, class_by_name: dict[str, Any]) -> Any:
    """Invert ``to_plain``; the descriptions of modules are returned unchanged."""
    if isinstance(value, dict) and "pairs" in value:
        return {from_plain(key, class_by_name): from_plain(item, class_by_name) for key, item in value["pairs"]}
    if isinstance(value, dict) and "tuple" in value:
        return tuple(from_plain(item, class_by_name) for item in value["tuple"])
    if isinstance(value, list):
        return [from_plain(item, class_by_name) for item in value]
    if isinstance(value, dict) and "estimator" in value:
        parameters = {name: from_plain(item, class_by_name) for name, item in value["parameters"].items()}
        return _find_class(value["estimator"], class_by_name)(**parameters)
    return value


def _parameters_to_plain(estimator: BaseEstimator) -> dict[str, Any]:
    return {name: to_plain(value) for name, value in estimator.get_params(deep=False).items()}


def _name_class(kind: type) -> str:
    """Return the name of a class; for scikit-learn classes, prefixed with the public module."""
    parts = kind.__module__.split(".")
    public = [part for part in parts if not part.startswith("_")]
    return ".".join([*public, kind.__name__]) if parts[0] == "sklearn" else kind.__name__


def _find_class(name: str, class_by_name: dict[str, Any]) -> Any:
    if name.startswith("sklearn."):
        return _find_sklearn_class(name)
    if name not in class_by_name:
        _import_estimators()
    if name not in class_by_name:
        raise InputError(
            f"the model is a {name}, which is unknown to this version of bagwise; import the module that defines it, "
            "or update bagwise"
        )
    return class_by_name[name]


def _import_estimators() -> None:
    """Import all public estimators, to register their classes: the package imports its names lazily."""
    package = importlib.import_module("bagwise.estimators")
    for name in package.__all__:
        getattr(package, name)


def _find_sklearn_class(name: str) -> Any:
    """Return an estimator class of scikit-learn; any other name in a file is rejected."""
    module, _, class_name = name.rpartition(".")
    try:
        found = getattr(importlib.import_module(module), class_name, None)
    except ImportError:
        found = None
    if not (isinstance(found, type) and issubclass(found, BaseEstimator)):
        raise InputError(
            f"the model contains a {name}, which is unknown to this version of scikit-learn; install the version that "
            "the model was saved with"
        )
    return found


def _read_tensors(path: Path) -> dict[str, Tensor]:
    try:
        return load_file(path)
    except safetensors.SafetensorError as error:
        raise InputError(f"{path} is damaged ({error}); restore it from a copy") from None


def _insert_modules(parameters: dict[str, Any], modules: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Return the parameters with the descriptions of custom modules replaced by the passed modules."""
    if unknown := modules.keys() - (set(MODULE_PARAMETERS) & parameters.keys()):
        raise InputError(f"load accepts modules named {', '.join(MODULE_PARAMETERS)}; got {', '.join(sorted(unknown))}")
    checked = {
        name: _check_module(parameters[name], modules.get(name), name, folder)
        for name in MODULE_PARAMETERS
        if name in parameters
    }
    return {**parameters, **checked}


def _check_module(stored: Any, passed: nn.Module | None, name: str, folder: Path) -> Any:
    """Return the passed module if it matches the stored description, or the stored parameter if it is not a module."""
    is_custom = isinstance(stored, dict) and "module" in stored
    if is_custom and passed is None:
        raise InputError(
            f"{folder} was trained with a custom {name}, {stored['module']}, which is not saved; "
            f"pass it again: load(…, {name}=…)"
        )
    if not is_custom and passed is not None:
        raise InputError(f"{folder} was trained with the {name} '{stored}'; load it without {name}=…")
    if is_custom and to_plain(passed) != stored:
        raise InputError(f"{folder} was trained with this {name}:\n{stored['repr']}\nbut load got:\n{passed!r}")
    return passed if is_custom else stored
