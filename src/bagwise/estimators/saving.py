"""An estimator on disk: a folder of safetensors (numbers) and JSON (words), sealed by SHA-256; never a pickle."""

import importlib
from pathlib import Path
from typing import Any

import numpy as np
import safetensors
from safetensors.torch import load_file
from safetensors.torch import save as as_bytes
from sklearn.base import BaseEstimator
from torch import Tensor, nn

import bagwise
from bagwise.errors import InputError
from bagwise.files import atomic_folder, read_json, write_json
from bagwise.formats.blaming import blaming
from bagwise.formats.memory_limit import at_most
from bagwise.manifests import read_sealed, write_manifest
from bagwise.quantities import shown

KIND = "bagwise model"
DESCRIPTION, NUMBERS = "model.json", "model.safetensors"
ROOM, SHARE = 1 << 30, 8  # bytes that loading may take: so many, and so many times the size of the numbers
OWN = ("encoder", "pooling", "augmentation")  # parameters that may be modules of the user's own


def plain(value: Any) -> Any:
    """A parameter as JSON: a module by its class, an estimator by its parameters, a table as pairs, a tuple as such."""
    if isinstance(value, nn.Module):
        return {"module": type(value).__qualname__, "repr": repr(value)}
    if isinstance(value, BaseEstimator):
        return {"estimator": _name(type(value)), "parameters": _parameters(value)}
    if isinstance(value, dict):
        return {"pairs": [[plain(key), plain(item)] for key, item in value.items()]}
    if isinstance(value, list | tuple):
        items = [plain(item) for item in value]
        return items if isinstance(value, list) else {"tuple": items}
    if isinstance(value, np.ndarray):
        return [plain(item) for item in value.tolist()]
    if isinstance(value, np.generic):
        return value.item()
    if value is None or isinstance(value, str | int | float | bool):
        return value
    if isinstance(value, np.random.RandomState | np.random.Generator):
        return None  # its state is not part of the model
    raise InputError(f"the parameter {shown(value)} cannot be saved; give numbers, words, lists or estimators")


def unplain(value: Any, kinds: dict[str, Any]) -> Any:
    """The inverse of ``plain``, for what it can restore."""
    if isinstance(value, dict) and "pairs" in value:
        return {unplain(key, kinds): unplain(item, kinds) for key, item in value["pairs"]}
    if isinstance(value, dict) and "tuple" in value:
        return tuple(unplain(item, kinds) for item in value["tuple"])
    if isinstance(value, list):
        return [unplain(item, kinds) for item in value]
    if isinstance(value, dict) and "estimator" in value:
        parameters = {name: unplain(item, kinds) for name, item in value["parameters"].items()}
        return _kind(value["estimator"], kinds)(**parameters)
    return value


def save(estimator: Any, folder: str | Path) -> None:
    """Write a fitted estimator."""
    facts, numbers = estimator._content()
    description = {
        "estimator": type(estimator).__name__,
        "bagwise": bagwise.__version__,
        "parameters": _parameters(estimator),
        "classes": {"dtype": estimator.classes_.dtype.str, "values": [plain(label) for label in estimator.classes_]},
        "instance_shape": list(estimator.instance_shape_),
        "feature_names": getattr(estimator, "feature_names_in_", np.array([])).tolist(),
        "extractor": estimator.extractor_,
        "seed": estimator.seed_,
        "learned": facts,
    }
    # cloned, because names that share their memory (tied weights) cannot be stored as one
    tensors = {name: value.detach().cpu().clone().contiguous() for name, value in numbers.items()}
    with atomic_folder(Path(folder), KIND) as draft:
        (draft / NUMBERS).write_bytes(as_bytes(tensors))
        write_json(draft / DESCRIPTION, description)
        write_manifest(draft, KIND)


def load(kind: Any, folder: str | Path, modules: dict[str, Any]) -> Any:
    """Read an estimator of a kind, or of one derived from it, every file compared with its SHA-256 first."""
    folder = Path(folder)
    read_sealed(folder, KIND, (DESCRIPTION, NUMBERS))
    room = ROOM + SHARE * (folder / NUMBERS).stat().st_size
    with blaming(folder, "holds no model that bagwise could have written", "train again"), at_most(room):
        return _read(kind, folder, modules)


def _read(kind: Any, folder: Path, modules: dict[str, Any]) -> Any:
    """The estimator of a folder whose files are as they were written, by whomever."""
    description = read_json(folder / DESCRIPTION)
    found_kind = _kind(description["estimator"], kind.kinds)
    if not issubclass(found_kind, kind):
        raise InputError(f"{folder} holds a {description['estimator']}, not a {kind.__name__}")
    parameters = {name: unplain(value, kind.kinds) for name, value in description["parameters"].items()}
    estimator = found_kind(**_with_modules(parameters, modules, folder))
    place(estimator, _classes(**description["classes"]), tuple(description["instance_shape"]), description["seed"])
    if description["feature_names"]:
        estimator.feature_names_in_ = np.array(description["feature_names"], dtype=object)
    estimator.extractor_ = description["extractor"]
    estimator._restore(description["learned"], _numbers(folder / NUMBERS))
    return estimator


def place(estimator: Any, classes: np.ndarray, instance_shape: tuple[int, ...], seed: int) -> None:
    """Tell an estimator that was not fitted here what it tells apart, and of which instances."""
    estimator.classes_, estimator.instance_shape_, estimator.seed_ = classes, instance_shape, seed
    estimator.likelihood_ = estimator._likelihood(len(classes))
    estimator.n_features_in_ = int(np.prod(instance_shape))
    estimator.extractor_ = None


def _classes(dtype: str, values: list[Any]) -> np.ndarray:
    classes = np.array(values, dtype=dtype)
    words = classes.dtype.kind == "O" and all(isinstance(value, str) for value in values)
    if not (words or classes.dtype.kind in "Uiufb") or len(set(classes.tolist())) != len(values):
        raise ValueError("its classes are not different words or numbers")
    return classes


def fill(model: nn.Module, tensors: dict[str, Tensor]) -> None:
    """Copy saved numbers into a model whose names and shapes must be the same."""
    expected = {name: tuple(value.shape) for name, value in model.state_dict().items()}
    stored = {name: tuple(value.shape) for name, value in tensors.items()}
    if expected != stored:
        names = [name for name in sorted({*expected, *stored}) if expected.get(name) != stored.get(name)]
        shown = "; ".join(f"{name}: saved {stored.get(name)}, now {expected.get(name)}" for name in names[:3])
        raise InputError(f"the saved numbers do not fit the model: {shown}")
    model.load_state_dict(tensors)


def _parameters(estimator: BaseEstimator) -> dict[str, Any]:
    return {name: plain(value) for name, value in estimator.get_params(deep=False).items()}


def _name(kind: type) -> str:
    """The name of a class; of one of scikit-learn's, with its public module."""
    places = kind.__module__.split(".")
    public = [place for place in places if not place.startswith("_")]
    return ".".join([*public, kind.__name__]) if places[0] == "sklearn" else kind.__name__


def _kind(name: str, kinds: dict[str, Any]) -> Any:
    if name.startswith("sklearn."):
        return _scikit_learn(name)
    if name not in kinds:
        raise InputError(f"the model is a {name}, unknown to this bagwise; import its class, or update bagwise")
    return kinds[name]


def _scikit_learn(name: str) -> Any:
    """A class of estimators of scikit-learn, and nothing else that a file may name."""
    module, _, kind = name.rpartition(".")
    try:
        found = getattr(importlib.import_module(module), kind, None)
    except ImportError:
        found = None
    if not (isinstance(found, type) and issubclass(found, BaseEstimator)):
        raise InputError(
            f"the model holds a {name}, unknown to this scikit-learn; install the version it was made with"
        )
    return found


def _numbers(path: Path) -> dict[str, Tensor]:
    try:
        return load_file(path)
    except safetensors.SafetensorError as error:
        raise InputError(f"{path} is damaged ({error}); restore it from a copy") from None


def _with_modules(parameters: dict[str, Any], modules: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The parameters, with the user's own modules where the estimator was trained with some."""
    if unknown := modules.keys() - (set(OWN) & parameters.keys()):
        raise InputError(f"load takes modules named {', '.join(OWN)}, not {', '.join(sorted(unknown))}")
    own = {name: _module(parameters[name], modules.get(name), name, folder) for name in OWN if name in parameters}
    return {**parameters, **own}


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
