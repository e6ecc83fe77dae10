"""The parameters of training: one table gives the flags of a command and the keys of a TOML file.

The words are those of BagClassifier; what is not given is left to its defaults.
"""

import inspect
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from bagwise.errors import InputError
from bagwise.names import nearest


class Parameter(NamedTuple):
    """A parameter's type on the command line, and what it means."""

    kind: type
    help: str


PARAMETERS: dict[str, Parameter] = {
    "pooling": Parameter(str, "gated attention, attention, max, mean, log-sum-exp, noisy-or …"),
    "level": Parameter(str, "embedding or instance."),
    "encoder": Parameter(str, "auto, mlp, lenet, nucleus cnn, projection or identity."),
    "connections": Parameter(str, "Past the mlp's last layer: deep supervision or residual."),
    "attention_width": Parameter(int, "Hidden units of the attention, L."),
    "heads": Parameter(int, "Attentions side by side."),
    "epochs": Parameter(int, "Passes over the bags."),
    "batch_size": Parameter(int, "Bags a step."),
    "optimizer": Parameter(str, "adam, sgd or nesterov."),
    "learning_rate": Parameter(float, "Step size."),
    "weight_decay": Parameter(float, "l2 penalty."),
    "momentum": Parameter(float, "For sgd and nesterov."),
    "schedule": Parameter(str, "How the learning rate falls: constant, linear or cosine."),
    "dropout": Parameter(float, "Probability; the encoder's own if not given."),
    "augmentation": Parameter(str, "Of training images: auto, histology, nucleus or affine."),
    "standardize": Parameter(bool, "Scale features by the training bags."),
    "validation": Parameter(float, "Share of the bags that chooses the best epoch."),
    "patience": Parameter(int, "Stop when the best epoch lies so many epochs back."),
    "most_instances": Parameter(int, "Of a bag in a training step, drawn anew each time."),
    "averaging": Parameter(float, "Share of the last epochs whose weights are averaged."),
    "class_weight": Parameter(str, "balanced: classes count the same, however many bags they have."),
    "temperature": Parameter(bool, "Calibrate probabilities on the validation bags."),
    "threshold": Parameter(bool, "Decide at a probability learned from the validation bags."),
    "precision": Parameter(str, "full, or mixed: the encoder trains in bfloat16, on GPUs only."),
    "engine": Parameter(str, "auto, torch, or fused: compiled kernels for features and images."),
    "memory": Parameter(str, "What a training step may hold of its instances: auto, or a size as 2GB."),
    "device": Parameter(str, "auto, cpu, cuda or mps."),
    "seed": Parameter(int, "A whole number; the same seed gives the same bits."),
}
PYTHON_NAMES = {"seed": "random_state"}  # scikit-learn's word in Python, everyone's word on the command line
DATA = "data"


def with_parameters(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command that takes ``**flags`` a flag for each parameter."""
    signature = inspect.signature(command)
    fixed = [entry for entry in signature.parameters.values() if entry.kind is not inspect.Parameter.VAR_KEYWORD]
    flags = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=None,
            annotation=Annotated[parameter.kind | None, typer.Option(help=parameter.help)],
        )
        for name, parameter in PARAMETERS.items()
    ]
    command.__signature__ = signature.replace(parameters=[*fixed, *flags])  # type: ignore[attr-defined]
    command.__annotations__ = {entry.name: entry.annotation for entry in [*fixed, *flags]}
    return command


def gather(flags: dict[str, Any], path: Path | None) -> tuple[dict[str, Any], dict[str, Any]]:
    """BagClassifier's arguments and the data set's options, from a TOML file and from flags, which win."""
    content = {} if path is None else _read(path)
    options = content.pop(DATA, {})
    if not isinstance(options, dict):
        raise InputError(f"{path}: {DATA} must be a table, [data], of the data set's options")
    content |= {name: value for name, value in flags.items() if value is not None}
    return {PYTHON_NAMES.get(name, name): value for name, value in content.items()}, options


def read_options(pairs: list[str]) -> dict[str, Any]:
    """Options typed as NAME=VALUE, the value as in TOML, or a bare word.

    >>> read_options(["n_bags=50", "split=test"])
    {'n_bags': 50, 'split': 'test'}
    """
    options = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise InputError(f"data option '{pair}' is not of the form NAME=VALUE")
        try:
            options[name] = tomllib.loads(f"value = {value}")["value"]
        except tomllib.TOMLDecodeError:
            options[name] = value
    return options


def _read(path: Path) -> dict[str, Any]:
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path} is not valid TOML: {error}") from None
    known = {**{PYTHON_NAMES.get(name, name): entry for name, entry in PARAMETERS.items()}, **PARAMETERS}
    for name, value in content.items():
        if name != DATA:
            _check(path, name, value, known)
    return content


def _check(path: Path, name: str, value: Any, known: dict[str, Parameter]) -> None:
    if name not in known:
        raise InputError(f"{path}: there is no parameter '{name}'; {nearest(name, known)}")
    kind = known[name].kind
    fits = isinstance(value, kind) or (kind is float and isinstance(value, int))
    if not fits or (isinstance(value, bool) and kind is not bool):
        raise InputError(f"{path}: {name} = {value!r} is a {type(value).__name__}; give a {kind.__name__}")
