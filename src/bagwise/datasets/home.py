"""The data home: the folder where data sets lie once they are fetched."""

import os
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from bagwise.datasets.origins import ORIGINS, Origin
from bagwise.datasets.parts import Part
from bagwise.errors import InputError

SHOWN = 3  # so many names are enough in a message


def data_home() -> Path:
    """$BAGWISE_DATA, or bagwise in $XDG_DATA_HOME, or ~/.local/share/bagwise."""
    chosen = os.environ.get("BAGWISE_DATA")
    if chosen:
        return Path(chosen).expanduser()
    shared = os.environ.get("XDG_DATA_HOME")
    return (Path(shared) if shared else Path.home() / ".local" / "share") / "bagwise"


def find(part: Part, home: Path) -> Path | None:
    """Where a file lies in the data home, in whichever form, if it is there."""
    return next((home / path for path in part.paths if (home / path).is_file()), None)


def is_there(name: str) -> bool:
    """Whether every file of a data set lies in the data home (its hashes are checked when it is fetched and loaded)."""
    home = data_home()
    return all(find(part, home) for part in ORIGINS[name].parts)


def locate(name: str) -> dict[str, Path]:
    """The files of a data set in the data home, by their keys; each is compared with its SHA-256.

    That takes a twentieth of a second for the largest set, far less than reading it.
    """
    home = data_home()
    origin = ORIGINS[name]
    found = {part.key: find(part, home) for part in origin.parts}
    missing = [PurePosixPath(key).name for key, path in found.items() if path is None]
    if missing:
        raise InputError(
            f"{name} is not in the data home {home}: {listed(missing)} missing; "
            f"{how_to_fetch(origin)} (public origin: {origin.page})"
        )
    files = {key: path for key, path in found.items() if path is not None}
    for part in origin.parts:
        if not part.fits(files[part.key]):
            raise InputError(f"{part.refusal(files[part.key], str(files[part.key]))}; {how_to_fetch(origin)}")
    return files


def how_to_fetch(origin: Origin) -> str:
    """The command that brings a data set, with a source where it has no public address of its own."""
    source = "[--from FOLDER_OR_URL]" if origin.address else "--from FOLDER_OR_URL"
    return f"fetch it with: bagwise data fetch {origin.name} {source}"


def listed(names: Iterable[str]) -> str:
    """The first few names, and how many more.

    >>> listed("abcdefg")
    'a, b, c and 4 more are'
    >>> listed("a")
    'a is'
    """
    names = list(names)
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more + (" is" if len(names) == 1 else " are")
