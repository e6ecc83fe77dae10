"""Fetching a data set into the data home: from a folder, from a URL, or from its public origin.

Every file is verified by its SHA-256 and written atomically. A correct file that already exists is kept; a wrong one is
replaced. The default URLs are those in ``origins``.
"""

import shutil
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from bagwise.data.datasets.dataset_files import DatasetFile
from bagwise.data.datasets.download import DownloadProgress, download_file
from bagwise.data.datasets.home import find_dataset_files, find_file, get_data_home
from bagwise.data.datasets.origins import Origin
from bagwise.data.datasets.registry import DATASETS, resolve_dataset_name
from bagwise.errors import InputError
from bagwise.io import check_disk_space, write_atomically


class FetchResult(NamedTuple):
    """The result of a fetch.

    Attributes
    ----------
    home : Path
        The data home.
    brought : tuple of str
        Files that were fetched, as paths relative to the data home.
    kept : tuple of str
        Files that already existed and were correct, as paths relative to the data home.
    """

    home: Path
    brought: tuple[str, ...]
    kept: tuple[str, ...]


def fetch_dataset(
    name: str, source: str | Path | None = None, home: Path | None = None, progress: DownloadProgress | None = None
) -> FetchResult:
    """Fetch a data set into the data home.

    Parameters
    ----------
    name : str
        Name of the data set.
    source : str, Path or None, default=None
        A folder with the files, or their http(s) base URL; None downloads them from the public origin. A folder may
        have any layout, and its files may be the public originals or other forms with known hashes. Nothing is copied
        from a folder unless it contains every file that is needed.
    home : Path or None, default=None
        The data home; None means ``get_data_home()``.
    progress : DownloadProgress or None, default=None
        Receives the progress; None shows nothing.

    Returns
    -------
    FetchResult

    Raises
    ------
    InputError
        If the data set is unknown, a file is missing or has a wrong hash, or the source cannot be reached. Call the
        function again to resume an interrupted download.
    """
    origin = _get_origin(name)
    home = get_data_home() if home is None else home
    needed = [part for part in origin.parts if not _is_correct(part, home)]
    brought = _fetch_files(needed, origin, source, home, progress or DownloadProgress()) if needed else ()
    found = [find_file(part, home) for part in origin.parts if part not in needed]
    return FetchResult(home, brought, tuple(path.relative_to(home).as_posix() for path in found if path))


def _get_origin(name: str) -> Origin:
    known = resolve_dataset_name(name)
    origin = DATASETS[known].origin
    if origin is None:
        raise InputError(f"{known} is generated when it is loaded; there is nothing to fetch")
    return origin


def _is_correct(part: DatasetFile, home: Path) -> bool:
    file = find_file(part, home)
    return file is not None and part.matches(file)


def _fetch_files(
    parts: list[DatasetFile], origin: Origin, source: str | Path | None, home: Path, progress: DownloadProgress
) -> tuple[str, ...]:
    """Fetch the files one by one and return their paths; an unusable source is rejected before anything is written."""
    files = _choose_source(parts, origin, source, home, progress)
    with progress:
        progress.start(len(parts))
        return tuple(files)


def _choose_source(
    parts: list[DatasetFile], origin: Origin, source: str | Path | None, home: Path, progress: DownloadProgress
) -> Iterator[str]:
    text = "" if source is None else str(source)
    if source is not None and not text.strip():
        raise InputError("--from is empty; pass the folder that contains the files, or a URL with http(s)://")
    if source is None and origin.address is None:
        raise InputError(
            f"{origin.name} has no URL to download from; get it from: {origin.page}; "
            f"then: bagwise data fetch {origin.name} --from FOLDER"
        )
    if source is None or text.lower().startswith(("http://", "https://")):
        return _download_files(parts, origin, text, home, progress)
    if "://" in text:
        raise InputError(f"'{text}' is neither a folder nor a URL with http:// or https://; check --from")
    return _copy_files(parts, find_dataset_files(parts, origin, Path(text).expanduser()), home, progress)


def _copy_files(
    parts: list[DatasetFile], found: dict[str, Path], home: Path, progress: DownloadProgress
) -> Iterator[str]:
    check_disk_space(home, sum(found[part.key].stat().st_size for part in parts))
    for part in parts:
        file = found[part.key]
        path = _choose_form(part, file.name)
        with write_atomically(home / path) as temporary:
            shutil.copyfile(file, temporary)
        _remove_other_forms(part, path, home)
        progress.update_file(file.name, file.stat().st_size, None)
        progress.finish_file()
        yield path


def _download_files(
    parts: list[DatasetFile], origin: Origin, base: str, home: Path, progress: DownloadProgress
) -> Iterator[str]:
    successful: dict[int, int] = {}  # the candidate that worked for one file is tried first for the next
    for part in parts:
        candidates = list(_list_urls(part, origin, base))
        order = sorted(range(len(candidates)), key=lambda index: index != successful.get(len(candidates)))
        for index in order:
            url, path = candidates[index]
            if _download_verified(part, url, home / path, progress):
                break
        else:
            names = " or ".join(PurePosixPath(path).name for path in part.forms)
            raise InputError(f"{base or origin.address} has no {names}; get {origin.name} from: {origin.page}")
        successful[len(candidates)] = index
        _remove_other_forms(part, path, home)
        progress.finish_file()
        yield path


def _list_urls(part: DatasetFile, origin: Origin, base: str) -> Iterator[tuple[str, str]]:
    """Yield URLs to try, each with the path of its form: the public URL, or the base URL + every end of each path."""
    if not base:
        url = str(origin.address).format(name=PurePosixPath(part.key).name)
        yield url, _choose_form(part, url)
        return
    for path in part.paths:
        folders = path.split("/")
        for first in range(len(folders)):
            yield "/".join([base.rstrip("/"), *folders[first:]]), path


def _download_verified(part: DatasetFile, url: str, target: Path, progress: DownloadProgress) -> bool:
    """Download and verify a file, then move it to ``target``; return False if there is no file at the URL."""
    partial = _get_part_path(target)
    was_resumed = True
    while was_resumed:  # a resumed download may have mixed two files: start over once
        was_resumed = partial.exists()
        if not download_file(url, partial, lambda received, total: progress.update_file(target.name, received, total)):
            return False
        if part.matches(partial):
            with write_atomically(target) as temporary:
                partial.replace(temporary)
            return True
        mismatch = part.explain_mismatch(partial, url)
        partial.unlink()
    raise InputError(f"{mismatch}; the download was deleted")


def _choose_form(part: DatasetFile, name: str) -> str:
    """Return the path of the form with the same suffix as a file name or URL."""
    suffix = PurePosixPath(name).suffix
    return next((path for path in part.paths if PurePosixPath(path).suffix == suffix), part.paths[0])


def _remove_other_forms(part: DatasetFile, kept: str, home: Path) -> None:
    """Remove all forms except one, and partial downloads.

    A form that already existed is wrong, otherwise the file would not have been fetched; it must not be found first.
    """
    for path in part.paths:
        _get_part_path(home / path).unlink(missing_ok=True)
        if path != kept:
            (home / path).unlink(missing_ok=True)


def _get_part_path(file: Path) -> Path:
    """Return the path of a partial download."""
    return file.with_name(f"{file.name}.part")
