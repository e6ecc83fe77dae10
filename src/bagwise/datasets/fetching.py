"""Fetching a data set into the data home: from a folder, from an address, or from its public origin.

Every file is compared with its SHA-256 and appears whole or not at all; one that is there and right is left alone, one
that is there and wrong is replaced. The default addresses are those of ``origins``, recorded with the data.
"""

import shutil
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from bagwise.datasets.catalogue import DATASETS, full_name
from bagwise.datasets.downloads import download
from bagwise.datasets.folders import find_all
from bagwise.datasets.home import data_home, find
from bagwise.datasets.origins import Origin
from bagwise.datasets.parts import Part
from bagwise.datasets.progress import Progress
from bagwise.errors import InputError
from bagwise.files import atomic, check_room


class Fetched(NamedTuple):
    """What a fetch did: the files it brought and those that were there, as paths below the data home."""

    home: Path
    brought: tuple[str, ...]
    kept: tuple[str, ...]


def fetch(
    name: str, source: str | Path | None = None, home: Path | None = None, progress: Progress | None = None
) -> Fetched:
    """Bring a data set by its name; ``source`` is a folder or an http(s) address below which its files lie.

    A folder may be laid out as the data home or any other way, its files the public originals or other forms known by
    their hashes. Nothing is copied from a folder unless it has every file. A download that was cut goes on where it
    stopped when the same fetch is made again.
    """
    origin = _origin(name)
    home = data_home() if home is None else home
    needed = [part for part in origin.parts if not _is_right(part, home)]
    brought = _bring(needed, origin, source, home, progress or Progress()) if needed else ()
    found = [find(part, home) for part in origin.parts if part not in needed]
    return Fetched(home, brought, tuple(path.relative_to(home).as_posix() for path in found if path))


def _origin(name: str) -> Origin:
    known = full_name(name)
    origin = DATASETS[known].origin
    if origin is None:
        raise InputError(f"{known} is made when it is loaded; there is nothing to fetch")
    return origin


def _is_right(part: Part, home: Path) -> bool:
    file = find(part, home)
    return file is not None and part.fits(file)


def _bring(
    parts: list[Part], origin: Origin, source: str | Path | None, home: Path, progress: Progress
) -> tuple[str, ...]:
    """Bring the files one by one; their paths."""
    files = _way(parts, origin, source, home, progress)
    with progress:
        progress.start(len(parts))
        return tuple(files)


def _way(parts: list[Part], origin: Origin, source: str | Path | None, home: Path, progress: Progress) -> Iterator[str]:
    """How the files will come; a source that cannot serve is refused before anything is written."""
    text = "" if source is None else str(source)
    if source is not None and not text.strip():
        raise InputError("--from is empty; pass the folder that holds the files, or an address with http(s)://")
    if source is None and origin.address is None:
        raise InputError(
            f"{origin.name} has no address to download from; get it from: {origin.page}; "
            f"then: bagwise data fetch {origin.name} --from FOLDER"
        )
    if source is None or text.lower().startswith(("http://", "https://")):
        return _from_address(parts, origin, text, home, progress)
    if "://" in text:
        raise InputError(f"'{text}' is neither a folder nor an address with http:// or https://")
    return _from_folder(parts, find_all(parts, origin, Path(text).expanduser()), home, progress)


def _from_folder(parts: list[Part], found: dict[str, Path], home: Path, progress: Progress) -> Iterator[str]:
    check_room(home, sum(found[part.key].stat().st_size for part in parts))
    for part in parts:
        file = found[part.key]
        path = _same_form(part, file.name)
        with atomic(home / path) as draft:
            shutil.copyfile(file, draft)
        _drop_other_forms(part, path, home)
        progress.bytes(file.name, file.stat().st_size, None)
        progress.file()
        yield path


def _from_address(parts: list[Part], origin: Origin, base: str, home: Path, progress: Progress) -> Iterator[str]:
    favourites: dict[int, int] = {}  # what worked for one file is tried first for the next
    for part in parts:
        routes = list(_routes(part, origin, base))
        order = sorted(range(len(routes)), key=lambda number: number != favourites.get(len(routes)))
        for number in order:
            address, path = routes[number]
            if _downloaded(part, address, home / path, progress):
                break
        else:
            names = " or ".join(PurePosixPath(path).name for path in part.forms)
            raise InputError(f"{base or origin.address} has no {names}; get {origin.name} from: {origin.page}")
        favourites[len(routes)] = number
        _drop_other_forms(part, path, home)
        progress.file()
        yield path


def _routes(part: Part, origin: Origin, base: str) -> Iterator[tuple[str, str]]:
    """Addresses to try and the path of what is found there: the public one, or every end of the path below a base."""
    if not base:
        address = str(origin.address).format(name=PurePosixPath(part.key).name)
        yield address, _same_form(part, address)
        return
    for path in part.paths:
        folders = path.split("/")
        for first in range(len(folders)):
            yield "/".join([base.rstrip("/"), *folders[first:]]), path


def _downloaded(part: Part, address: str, target: Path, progress: Progress) -> bool:
    """Download, compare, put in place; False if there is no such file at the address."""
    draft = _part_of(target)
    was_resumed = True
    while was_resumed:  # if the rest of another file was added to ours, once more from the start
        was_resumed = draft.exists()
        if not download(address, draft, lambda done, total: progress.bytes(target.name, done, total)):
            return False
        if part.fits(draft):
            with atomic(target) as whole:
                draft.replace(whole)
            return True
        refusal = part.refusal(draft, address)
        draft.unlink()
    raise InputError(f"{refusal}; it was not kept")


def _same_form(part: Part, name: str) -> str:
    """The path of the form whose suffix a file has."""
    suffix = PurePosixPath(name).suffix
    return next((path for path in part.paths if PurePosixPath(path).suffix == suffix), part.paths[0])


def _drop_other_forms(part: Part, kept: str, home: Path) -> None:
    """A form that was there before was wrong, or we would not have fetched: it must not be found first.

    Nor is a part of a cut download of use any more.
    """
    for path in part.paths:
        _part_of(home / path).unlink(missing_ok=True)
        if path != kept:
            (home / path).unlink(missing_ok=True)


def _part_of(file: Path) -> Path:
    """Where a download waits for its rest."""
    return file.with_name(f"{file.name}.part")
