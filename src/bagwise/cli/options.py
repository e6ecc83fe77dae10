"""Options shared by several commands: training parameters, methods to compare, worker processes.

The table ``PARAMETERS`` defines both the training flags of a command and the keys of a TOML file. The names are those
of ``BagClassifier``; parameters that are not given have its defaults, except for the seed, which is 0.
"""

import contextlib
import inspect
import tomllib
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from bagwise.arguments import suggest_name
from bagwise.errors import InputError

if TYPE_CHECKING:
    from bagwise.parallel import DaskCluster

DATA = "data"
PYTHON_NAMES = {"seed": "random_state"}  # command line name: name in Python, as in scikit-learn
EXAMPLE_OPTIONS = {"--data-option": "label=active", "--method-option": "C=10"}
BACKENDS = ("joblib", "dask")
KINDS = {str: "a string", int: "a whole number", float: "a number", bool: "true or false"}

Workers = Annotated[int, typer.Option(help="Number of worker processes; results do not depend on it.")]
Backend = Annotated[
    str, typer.Option(help="Where the workers run: joblib (processes on this machine) or dask (a Dask cluster).")
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        help="Address of the Dask scheduler, e.g. tcp://10.0.0.1:8786; required by --backend dask. [default: none]"
    ),
]
DataArgument = Annotated[
    str,
    typer.Argument(
        metavar="DATA", help="Name of a data set, folder of bags, csv or parquet table, or folder of images."
    ),
]
DataOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=VALUE",
        help="Option for reading DATA, e.g. --data-option label=active; may be repeated. [default: none]",
    ),
]
Parameters = dict[str, dict[str, Any]]


class Parameter(NamedTuple):
    """A training parameter.

    Attributes
    ----------
    kind : type
        Type of the value on the command line.
    meaning : str
        One sentence for ``--help``.
    default : str
        The default, as printed in ``--help``.
    read : callable, default=None
        Converts a string or a number to the value of the parameter, if it is neither always; ``kind`` is str then.
    """

    kind: type
    meaning: str
    default: str
    read: Callable[[Any], Any] | None = None


def read_number(value: Any) -> Any:
    """Convert a number or "none" from the command line or a TOML file; other values, such as "auto", stay as they are.

    >>> [read_number(value) for value in ("0.2", "5", "none", "auto", 0.3)]
    [0.2, 5, None, 'auto', 0.3]
    """
    if not isinstance(value, str):
        return value
    for kind in (int, float):
        with contextlib.suppress(ValueError):
            return kind(value)
    return None if value == "none" else value


PARAMETERS: dict[str, Parameter] = {
    "pooling": Parameter(
        str, "Pooling: gated attention, attention, max, mean, log-sum-exp, noisy-or, …", "gated attention"
    ),
    "level": Parameter(
        str,
        "Level of pooling: embedding (pool, then classify) or instance (classify each instance, then pool).",
        "embedding",
    ),
    "encoder": Parameter(
        str, "Encoder of the instances: auto, mlp, lenet, nucleus cnn, projection or identity.", "auto"
    ),
    "connections": Parameter(
        str, "Connections from all layers of the mlp to the head: deep supervision or residual.", "none"
    ),
    "attention_width": Parameter(int, "Number of hidden units of the attention (L in the paper).", "128"),
    "heads": Parameter(int, "Number of attention heads.", "1"),
    "epochs": Parameter(
        str,
        "Number of passes over the training bags, or auto.",
        "auto; 100, or 40 with folds and more than 200 training bags",
        read_number,
    ),
    "batch_size": Parameter(int, "Number of bags per optimizer step.", "1"),
    "optimizer": Parameter(str, "Optimizer: adam, sgd or nesterov.", "adam"),
    "learning_rate": Parameter(float, "Learning rate of the optimizer.", "0.0005"),
    "weight_decay": Parameter(float, "L2 penalty on the weights.", "0.0001"),
    "momentum": Parameter(float, "Momentum of sgd and nesterov.", "0.9"),
    "schedule": Parameter(str, "Learning rate schedule: constant, linear or cosine.", "constant"),
    "dropout": Parameter(float, "Dropout probability.", "0.5 for mlp and nucleus cnn, 0 for lenet"),
    "augmentation": Parameter(str, "Augmentation of training images: auto, histology, nucleus or affine.", "none"),
    "scaling": Parameter(
        str,
        "Scaling of features by the training bags: clipped (mean 0, deviation 1, clipped to the training range), "
        "standard (not clipped) or none.",
        "clipped",
    ),
    "validation": Parameter(
        str,
        "Held-out training bags: a share such as 0.2, which chooses the best epoch; a number of folds such as 5, with "
        "one network per fold, whose scores are averaged; auto or none.",
        "auto; 5, or 0.2 from 500 bags with 100 per class, or with --patience",
        read_number,
    ),
    "patience": Parameter(
        str,
        "Stop after this many epochs without improvement on a held-out share of the bags; auto or none.",
        "auto; 20 with such a share, else none",
        read_number,
    ),
    "most_instances": Parameter(
        int, "Maximum number of instances per bag in a training step; larger bags are sampled anew in each step.", "all"
    ),
    "averaging": Parameter(
        float, "Average the network weights over this share of the epochs, at the end of training.", "0; no averaging"
    ),
    "target": Parameter(
        str, "Kind of the target: auto (the kind that accepts the labels), classes, or another registered kind.", "auto"
    ),
    "positive": Parameter(
        str,
        "Positive one of two classes, to which precision, recall, F-score and the threshold refer.",
        "the last class, or the obvious one of a common pair such as active and inactive",
    ),
    "class_weight": Parameter(
        str, "Class weights in the loss: balanced gives every class the same total weight.", "none"
    ),
    "calibration": Parameter(bool, "Calibrate probabilities on the held-out bags.", "auto; yes if bags are held out"),
    "threshold": Parameter(bool, "Learn the decision threshold from the held-out bags.", "no; 0.5 is used"),
    "precision": Parameter(str, "Precision of training: full, or mixed (encoder in bfloat16; CUDA only).", "full"),
    "engine": Parameter(str, "Training engine: auto, torch, or fused (compiled CPU kernels).", "auto"),
    "memory": Parameter(
        str, "Memory for the instances of a training step: auto or a size such as 2GB.", "auto; a quarter of the memory"
    ),
    "device": Parameter(str, "Device: auto, cpu, cuda or mps.", "auto"),
    "seed": Parameter(int, "Random seed; the same seed gives bit-identical results.", "0"),
}


def add_parameters(command: Callable[..., None]) -> Callable[..., None]:
    """Add one flag per training parameter to a command that accepts ``**flags``."""
    signature = inspect.signature(command)
    fixed = [entry for entry in signature.parameters.values() if entry.kind is not inspect.Parameter.VAR_KEYWORD]
    flags = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=None,
            annotation=Annotated[
                parameter.kind | None, typer.Option(help=f"{parameter.meaning} [default: {parameter.default}]")
            ],
        )
        for name, parameter in PARAMETERS.items()
    ]
    command.__signature__ = signature.replace(parameters=[*fixed, *flags])  # type: ignore[attr-defined]
    command.__annotations__ = {entry.name: entry.annotation for entry in [*fixed, *flags]}
    return command


def gather_parameters(
    flags: dict[str, Any], path: Path | None, method: str | None = None, pairs: Sequence[str] = ()
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Collect the parameters of a method and the options of the data from a TOML file, flags and NAME=VALUE pairs.

    Flags and pairs take precedence over the file.
    """
    content = {} if path is None else _read_toml(path)
    options = content.pop(DATA, {})
    if not isinstance(options, dict):
        raise InputError(f"{path}: '{DATA}' must be a table of options for the reader of DATA; write [data]")
    given = _read_values({name: value for name, value in flags.items() if value is not None})
    if method is None:
        if pairs:
            raise InputError(f"--method-option {pairs[0]} needs --method NAME; add it, or use the flag of a network")
        known = {**{PYTHON_NAMES.get(name, name): entry for name, entry in PARAMETERS.items()}, **PARAMETERS}
        for name, value in content.items():
            _check_parameter(path, name, value, known)
        named = {**_read_values(content), **given}
        return {PYTHON_NAMES.get(name, name): value for name, value in named.items()}, options
    named = {PYTHON_NAMES.get(name, name): value for name, value in _read_values(content).items()}
    return {
        **named,
        **_name_flags(method, given),
        **_read_values(read_options(list(pairs), "--method-option")),
    }, options


def _name_flags(method: str, flags: dict[str, Any]) -> dict[str, Any]:
    """Return training flags under the names that they have in a method, nested for an ensemble of networks."""
    from bagwise.estimators import list_parameters, resolve_method_name

    known = list_parameters(method)
    named = {}
    for flag, value in flags.items():
        name = PYTHON_NAMES.get(flag, flag)
        found = next((key for key in (name, f"estimator__{name}") if key in known), None)
        if found is None:
            raise InputError(
                f"{resolve_method_name(method)} has no parameter for {_format_flags([flag])}, or fixes it; leave the "
                f"flag out (its parameters are {', '.join(known) or 'none'}; set them with --method-option NAME=VALUE)"
            )
        named[found] = value
    return named


def read_options(pairs: list[str], flag: str = "--data-option") -> dict[str, Any]:
    """Parse options of the form NAME=VALUE; VALUE is a TOML value or an unquoted string.

    Examples
    --------
    >>> read_options(["n_bags=50", "split=test"])
    {'n_bags': 50, 'split': 'test'}
    """
    options = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise InputError(f"{flag} '{pair}' is not of the form NAME=VALUE, e.g. {flag} {EXAMPLE_OPTIONS[flag]}")
        try:
            options[name] = tomllib.loads(f"value = {value}")["value"]
        except tomllib.TOMLDecodeError:
            options[name] = value
    return options


def split_names(text: str) -> list[str]:
    """Split names that are separated by commas.

    >>> split_names("extra-trees, mi-Graph,")
    ['extra-trees', 'mi-Graph']
    """
    return [name.strip() for name in text.split(",") if name.strip()]


def read_methods(names: str, flags: dict[str, Any], path: Path | None) -> tuple[Parameters, Parameters]:
    """Return the parameters of each method to compare, and the grids of parameters to select.

    Training flags apply to the networks. Tables ``[methods."NAME"]`` of the TOML file apply to one method and take
    precedence.
    """
    from bagwise.estimators import METHODS, BagClassifier, resolve_method_name

    chosen = list(METHODS) if names.strip() == "all" else [resolve_method_name(name) for name in split_names(names)]
    if not chosen:
        raise InputError("--methods is empty; give names separated by commas, e.g. --methods attention,MI-SVM")
    tables, grids = _read_methods_file(path) if path is not None else ({}, {})
    tables, grids = ({resolve_method_name(name): table for name, table in part.items()} for part in (tables, grids))
    if unused := tables.keys() - set(chosen):
        raise InputError(
            f"{path}: [methods] has a table for {', '.join(sorted(unused))}, which is not compared; "
            "add it to --methods or remove the table"
        )
    parameters = {}
    for name in dict.fromkeys(chosen):
        fixed = METHODS[name].parameters
        free_flags = {flag: value for flag, value in flags.items() if flag not in fixed}
        parameters[name] = {**(free_flags if METHODS[name].kind is BagClassifier else {}), **tables.get(name, {})}
        parameters[name] = _read_values(parameters[name])
    if flags and not any(METHODS[name].kind is BagClassifier for name in chosen):
        raise InputError(
            f"{_format_flags(flags)}: training flags apply to networks, and none is compared; leave them out, or set "
            "parameters of other methods with --config FILE"
        )
    return parameters, grids


def choose_workers(workers: int, backend: str, scheduler: str | None) -> "int | DaskCluster":
    """Return the argument ``workers`` of library functions for these flags."""
    from bagwise.arguments import choose_by_name
    from bagwise.parallel import DaskCluster

    if choose_by_name(backend, {name: name for name in BACKENDS}, "--backend") == "joblib":
        if scheduler is not None:
            raise InputError("--scheduler needs --backend dask; add --backend dask or remove --scheduler")
        return workers
    if scheduler is None:
        raise InputError("--backend dask needs --scheduler ADDRESS; `dask scheduler` prints the address")
    return DaskCluster(scheduler)


def _format_flags(names: Iterable[str]) -> str:
    return ", ".join(f"--{name.replace('_', '-')}" for name in names)


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path} is not valid TOML: {error}") from None


def _read_values(parameters: dict[str, Any]) -> dict[str, Any]:
    """Convert values from the command line or a TOML file to those of the parameters, which may be nested."""
    values = {}
    for name, value in parameters.items():
        parameter = PARAMETERS.get(name.removeprefix("estimator__"))
        values[name] = value if parameter is None or parameter.read is None else parameter.read(value)
    return values


def _check_parameter(path: Path | None, name: str, value: Any, known: dict[str, Parameter]) -> None:
    if name not in known:
        raise InputError(f"{path}: unknown parameter '{name}'; {suggest_name(name, known)}")
    kind, read = known[name].kind, known[name].read
    fits = isinstance(value, kind) or ((kind is float or read is not None) and isinstance(value, int | float))
    if not fits or (isinstance(value, bool) and kind is not bool):
        raise InputError(f"{path}: {name} = {value!r} is of type {type(value).__name__}; give {KINDS[kind]}")


def _read_methods_file(path: Path) -> tuple[Parameters, Parameters]:
    content = _read_toml(path)
    if unknown := content.keys() - {"methods", "select"}:
        raise InputError(
            f"{path}: unknown table {', '.join(sorted(unknown))}; the tables are [methods.NAME] and [select.NAME]"
        )
    for part in ("methods", "select"):
        if not isinstance(content.get(part, {}), dict):
            raise InputError(f"{path}: '{part}' must contain one table per method; write [{part}.NAME]")
        for name, table in content.get(part, {}).items():
            if not isinstance(table, dict):
                raise InputError(f"{path}: {part}.{name} must be a table of parameters; write [{part}.{name}]")
    return content.get("methods", {}), content.get("select", {})
