"""Which methods are compared, with which parameters, from a list of names, the flags of training and a TOML file."""

import tomllib
from pathlib import Path
from typing import Any

from bagwise.errors import InputError

Parameters = dict[str, dict[str, Any]]


def read_methods(typed: str, flags: dict[str, Any], path: Path | None) -> tuple[Parameters, Parameters]:
    """For each method its parameters, and the grid of those that are to be selected.

    Flags are for the networks; the file's ``[methods."NAME"]`` are for that method and win, because they are nearer.
    """
    from bagwise.estimators import BagClassifier
    from bagwise.estimators.methods import METHODS, method_name

    names = (
        list(METHODS) if typed.strip() == "all" else [method_name(name) for name in typed.split(",") if name.strip()]
    )
    if not names:
        raise InputError("--methods is empty; give names with commas between them, e.g. attention,MI-SVM")
    own, grids = _read(path) if path is not None else ({}, {})
    own, grids = ({method_name(name): table for name, table in tables.items()} for tables in (own, grids))
    if left := own.keys() - set(names):
        raise InputError(f"{path}: [methods] speaks of {', '.join(sorted(left))}, which is not compared")
    parameters = {}
    for name in dict.fromkeys(names):
        fixed = METHODS[name].parameters
        open_flags = {word: value for word, value in flags.items() if word not in fixed}
        parameters[name] = {**(open_flags if METHODS[name].kind is BagClassifier else {}), **own.get(name, {})}
    if flags and not any(METHODS[name].kind is BagClassifier for name in names):
        raise InputError(f"{', '.join(flags)}: flags of training are for networks, and none is compared; use --config")
    return parameters, grids


def _read(path: Path) -> tuple[Parameters, Parameters]:
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path} is not valid TOML: {error}") from None
    if unknown := content.keys() - {"methods", "select"}:
        raise InputError(
            f"{path}: {', '.join(sorted(unknown))} is unknown; the tables are [methods.NAME], [select.NAME]"
        )
    for part in ("methods", "select"):
        if not isinstance(content.get(part, {}), dict):
            raise InputError(f"{path}: {part} must be tables, [{part}.NAME]")
        for name, table in content.get(part, {}).items():
            if not isinstance(table, dict):
                raise InputError(f"{path}: {part}.{name} must be a table of parameters")
    return content.get("methods", {}), content.get("select", {})
