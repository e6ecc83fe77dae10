"""JSON files: atomic writing, and reading with errors that name the file."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bagwise.errors import InputError
from bagwise.io.atomic import write_atomically

JsonObject = dict[str, Any]  # values are numbers, strings, booleans, None, lists and dictionaries


def write_json(path: Path, content: Any) -> None:
    """Write a JSON file atomically.

    Parameters
    ----------
    path : Path
        Path of the file.
    content : object
        Content to write; it must be JSON serializable.

    Raises
    ------
    ValueError
        If the content contains NaN or infinity, which are not valid JSON.
    """
    with write_atomically(path) as temporary:
        temporary.write_text(
            json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n", encoding="utf-8"
        )


def read_json(path: Path, read: Callable[[], bytes] | None = None) -> Any:
    """Read a JSON file.

    Parameters
    ----------
    path : Path
        Path of the file.
    read : callable or None, default=None
        Function that returns the content of the file; None reads it from ``path``.

    Returns
    -------
    object
        Content of the file.

    Raises
    ------
    InputError
        If the file is missing or damaged.
    """
    try:
        return json.loads((read or Path(path).read_bytes)().decode("utf-8"))
    except FileNotFoundError:
        raise InputError(f"{path} is missing; check that {Path(path).parent} is the right folder") from None
    except (IsADirectoryError, NotADirectoryError):
        raise InputError(f"{path} is not a file; check the path") from None
    except (ValueError, RecursionError) as error:  # ValueError: not UTF-8, not JSON, or an integer with too many digits
        raise InputError(f"{path} is damaged ({error}); restore it from a copy or create it again") from None
