"""The description of a run, stored in parameters.json: data, method and parameters, enough to repeat the run.

    {"data": …, "method": "MI-SVM", "parameters": {"C": 1.0, …}}

``method`` is a key of ``METHODS``, or None for a ``BagClassifier`` whose parameters are all free.
"""

from inspect import signature
from pathlib import Path
from typing import Any

from bagwise.arguments import canonicalize_name
from bagwise.data import resolve_data_path
from bagwise.errors import InputError
from bagwise.estimators import BagClassifier, BagEstimator, build_method, list_parameters, resolve_method_name
from bagwise.io import read_json
from bagwise.parallel import get_ranks
from bagwise.runs.parts import split_source

RunDescription = dict[str, Any]
SEED = "random_state"
LATER_PARAMETERS = {"target", "positive"}


def build_run_estimator(description: RunDescription) -> BagEstimator:
    """Build the estimator of a run.

    Parameters
    ----------
    description : dict
        With the entries "method" and "parameters".

    Returns
    -------
    BagEstimator
        Not fitted.
    """
    method, parameters = description["method"], description["parameters"]
    return BagClassifier(**parameters) if method is None else build_method(method, **parameters)


def resolve_paths(description: RunDescription) -> RunDescription:
    """Make paths absolute, so that the run finds its data from any working directory."""
    data, options = resolve_data_path(description["data"]["data"], description["data"]["options"])
    test, splits = description["data"]["test"], description["data"].get("splits")
    resolved = {
        "data": data,
        "options": options,
        "test": resolve_data_path(test, {})[0] if isinstance(test, str) else test,
        "splits": None if splits is None else str(Path(splits).resolve()),
    }
    return {**description, "data": {**description["data"], **resolved}}


def load_or_complete(path: Path, description: RunDescription, resume: bool) -> RunDescription:
    """Return the stored description of an existing run, or the completed description of a new one."""
    if not path.exists():
        return _complete_description(description)
    stored = _read_description(path)
    _check_same_description(stored, description, path.parent, resume)
    return stored


def _complete_description(description: RunDescription) -> RunDescription:
    """Add every default, because another version may have other defaults."""
    method = None if description.get("method") is None else resolve_method_name(description["method"])
    defaults = _list_defaults(method)
    # With several processes the engine is stored explicitly, because a single process may resume the run.
    engine = {"engine": "torch"} if get_ranks().size > 1 and "engine" in defaults else {}
    seed = {SEED: 0} if SEED in defaults else {}
    given = {**seed, **engine, **description["parameters"]}
    build_run_estimator({"method": method, "parameters": given})  # reports unknown parameters
    data = {"split_seed": given.get(SEED, 0), **description["data"]}
    return {
        "data": {**data, "ungrouped": bool(data.get("ungrouped"))},
        "method": method,
        "parameters": {**defaults, **given},
    }


def _list_defaults(method: str | None) -> dict[str, Any]:
    return BagClassifier().get_params() if method is None else list_parameters(method)


def _read_description(path: Path) -> RunDescription:
    """Read the description of an existing run, and check that it is complete."""
    stored = read_json(path)
    if isinstance(stored, dict) and isinstance(stored.get("data"), dict):
        stored["data"].setdefault("ungrouped", False)  # early versions did not write it
        stored.setdefault("method", None)  # early versions trained networks only
    try:
        defaults = _list_defaults(stored["method"])
        for name in LATER_PARAMETERS & defaults.keys():
            stored["parameters"].setdefault(name, defaults[name])  # early versions did not write them
    except (InputError, KeyError, TypeError, AttributeError):
        raise InputError(f"{path} is damaged: it does not name a method; choose a new folder") from None
    required = {"data": set(signature(split_source).parameters) - {"learn"}, "parameters": set(defaults)}
    for part, names in required.items():
        if not isinstance(stored.get(part), dict) or set(stored[part]) != names:
            raise InputError(f"{path} is damaged: '{part}' does not have the entries of a run; choose a new folder")
    return stored


def _check_same_description(stored: RunDescription, wanted: RunDescription, folder: Path, resume: bool) -> None:
    """Reject values that differ from those of the run; whatever is not given keeps its value."""
    if not resume:
        raise InputError(f"{folder} already has a run; add --resume to resume it, or choose a new folder")
    method = None if wanted.get("method") is None else resolve_method_name(wanted["method"])
    pairs = [("method", stored["method"], method)]  # in method names, the case matters
    for part in ("data", "parameters"):
        pairs += [(name, _normalize(stored[part].get(name)), _normalize(value)) for name, value in wanted[part].items()]
    for name, before, now in pairs:
        if now not in (None, {}) and before != now:
            raise InputError(
                f"{folder} was started with {name} = {before!r}, but now it is {now!r}; repeat the first command with "
                "--resume, or choose a new folder"
            )


def _normalize(value: Any) -> Any:
    """Return names in their canonical spelling: spaces, hyphens and underscores are equivalent."""
    return canonicalize_name(value) if isinstance(value, str) else value
