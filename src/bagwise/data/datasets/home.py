"""The data home, which is the folder of the fetched data sets; and finding the files of a data set in other folders."""

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

from bagwise.data.datasets.dataset_files import DatasetFile
from bagwise.data.datasets.origins import ORIGINS, Origin
from bagwise.errors import InputError

MAX_LISTED = 3  # names in a message


def get_data_home() -> Path:
    """Return the data home.

    Returns
    -------
    Path
        ``$BAGWISE_DATA`` if it is set, else ``$XDG_DATA_HOME/bagwise`` if that is set, else ``~/.local/share/bagwise``.
    """
    chosen = os.environ.get("BAGWISE_DATA")
    if chosen:
        return Path(chosen).expanduser()
    shared = os.environ.get("XDG_DATA_HOME")
    return (Path(shared) if shared else Path.home() / ".local" / "share") / "bagwise"


def is_fetched(name: str) -> bool:
    """Return whether every file of a data set is in the data home.

    Hashes are not checked here, but when the data set is fetched or loaded.

    Parameters
    ----------
    name : str
        Name of a data set in ``ORIGINS``.

    Returns
    -------
    bool
    """
    home = get_data_home()
    return all(find_file(part, home) for part in ORIGINS[name].parts)


def locate_files(name: str) -> dict[str, Path]:
    """Return the files of a data set in the data home, after verifying the SHA-256 of each.

    Verification takes 50 ms for the largest data set, far less than reading it.

    Parameters
    ----------
    name : str
        Name of a data set in ``ORIGINS``.

    Returns
    -------
    dict of str to Path
        Path of each file, by ``DatasetFile.key``.

    Raises
    ------
    InputError
        If a file is missing or has another hash; the message contains the command that fetches it.
    """
    home = get_data_home()
    origin = ORIGINS[name]
    found = {part.key: find_file(part, home) for part in origin.parts}
    missing = [PurePosixPath(key).name for key, path in found.items() if path is None]
    if missing:
        raise InputError(
            f"{name} is not in the data home {home}: {list_names(missing)} missing; "
            f"{describe_fetch(origin)} (public origin: {origin.page})"
        )
    files = {key: path for key, path in found.items() if path is not None}
    for part in origin.parts:
        file = files[part.key]
        if not part.matches(file):
            raise InputError(f"{part.explain_mismatch(file, str(file))}; {describe_fetch(origin)}")
    return files


def find_file(part: DatasetFile, home: Path) -> Path | None:
    """Return the path of a file in the data home, in any of its forms, or None."""
    return next((home / path for path in part.paths if (home / path).is_file()), None)


def describe_fetch(origin: Origin) -> str:
    """Return the command that fetches a data set; it needs a source if there is no public URL."""
    source = "[--from FOLDER_OR_URL]" if origin.address else "--from FOLDER_OR_URL"
    return f"fetch it with: bagwise data fetch {origin.name} {source}"


def list_names(names: Iterable[str]) -> str:
    """List the first few names and the number of others, with a verb.

    >>> list_names("abcdefg")
    'a, b, c and 4 more are'
    >>> list_names("a")
    'a is'
    """
    names = list(names)
    more = f" and {len(names) - MAX_LISTED} more" if len(names) > MAX_LISTED else ""
    return ", ".join(names[:MAX_LISTED]) + more + (" is" if len(names) == 1 else " are")


def find_dataset_files(parts: list[DatasetFile], origin: Origin, folder: Path) -> dict[str, Path]:
    """Find the files of a data set in a folder of any layout; return their paths by key.

    One error reports all files with a wrong hash, or all missing files.
    """
    by_name = _index_files(folder)
    found: dict[str, Path] = {}
    missing, wrong = [], []
    for part in parts:
        candidates = list(_list_candidates(part, origin, folder, by_name))
        match = next((file for file in candidates if part.matches(file)), None)
        if match is not None:
            found[part.key] = match
        elif candidates:
            wrong.append(part.explain_mismatch(candidates[0], str(candidates[0])))
        else:
            missing.append(" or ".join(PurePosixPath(path).name for path in part.forms))
    if wrong:
        raise InputError(f"{'; '.join(wrong[:MAX_LISTED])}; use the files of the public origin: {origin.page}")
    if missing:
        raise InputError(
            f"{folder} does not contain all of {origin.name}: {list_names(missing)} missing; "
            f"get {origin.name} from: {origin.page}"
        )
    return found


def _list_candidates(part: DatasetFile, origin: Origin, folder: Path, by_name: dict[str, list[Path]]) -> Iterator[Path]:
    """Yield files that may be this one: by its path, then by its name, then by its name at the public origin."""
    for path in part.paths:
        if (folder / path).is_file():
            yield folder / path
    for path in part.paths:
        yield from by_name.get(PurePosixPath(path).name, [])
    if origin.address and "{name}" not in origin.address:  # its name there may differ
        yield from by_name.get(PurePosixPath(origin.address).name, [])


def _index_files(folder: Path) -> dict[str, list[Path]]:
    if not folder.is_dir():
        raise InputError(f"{folder} is not a folder; pass the folder that contains the files, or a URL with http(s)://")
    by_name = defaultdict(list)
    for file in sorted(folder.rglob("*")):
        if file.is_file():
            by_name[file.name].append(file)
    return by_name
